package io.troupe.cli.supervised;

import io.troupe.base.build.BuildInfo;
import io.troupe.base.process.ExitCode;
import io.troupe.base.process.Signals;
import io.troupe.cli.command.CliCommand;
import io.troupe.cli.command.OverrideOption;
import io.troupe.config.binding.ResolvedConfig;
import io.troupe.config.supervised.SupervisedConfig;
import io.troupe.run.session.RunCopy;
import io.troupe.run.supervised.SupervisedComposition;
import io.troupe.run.supervised.SupervisedSession;
import io.troupe.run.task.InvalidVerifierException;
import io.troupe.store.folder.Provenance;
import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code troupe sft}: trains a policy to imitate rows, or continues such a run. */
@Command(
    name = "sft",
    description = {
      "Trains a policy to imitate rows (supervised fine-tuning), or continues such a run.",
      "docs/training.md has the file and the data."
    },
    footer = {
      "",
      "Exit codes: 0 complete · 2 bad usage, configuration or data · 4 failed · 130, 143"
          + " interrupted",
      "",
      "Examples:",
      "  troupe sft conf/sft-quickstart.yaml",
      "  troupe sft conf/sft-quickstart.yaml --set training.learning_rate=1e-4 --set run.seed=2",
      "  troupe sft --resume sft-quickstart-20261121-140200",
      "",
      "^C or SIGTERM saves after the present step; a second one stops at once."
    })
public final class SftCommand extends CliCommand {
  private static final Path RUNS = Path.of("runs");

  @Parameters(
      index = "0",
      arity = "0..1",
      paramLabel = "FILE",
      description = "Configuration of a new run.")
  private @Nullable Path file;

  @Option(
      names = "--resume",
      paramLabel = "RUN",
      description = "Folder or name of the run to continue, from its last checkpoint.")
  private @Nullable String resume;

  @Mixin private OverrideOption overrides = new OverrideOption();

  @Option(
      names = "--plan",
      description = "Prints what FILE comes to, with an example as tokens, and trains nothing.")
  private boolean plan;

  @Option(names = "--json", description = "One JSON object a step on standard output.")
  private boolean json;

  @Override
  public Integer call() throws Exception {
    if ((file == null) == (resume == null) || (plan && resume != null)) {
      throw refused("give either a configuration FILE or --resume RUN");
    }
    return resume == null ? begin(Objects.requireNonNull(file)) : again(resume);
  }

  private int begin(Path source)
      throws IOException, InterruptedException, InvalidVerifierException {
    OffsetDateTime now = OffsetDateTime.now(ZoneId.systemDefault());
    ResolvedConfig<SupervisedConfig> resolved = SupervisedConfig.load(source, overrides.values());
    if (resolved.config().run().date().isEmpty()) {
      List<String> dated = new ArrayList<>(overrides.values());
      dated.add("run.date=" + now.truncatedTo(ChronoUnit.SECONDS));
      resolved = SupervisedConfig.load(source, dated);
    }
    SupervisedComposition composition = SupervisedComposition.of(resolved.config());
    if (plan) {
      new SupervisedPlanText(composition).lines().forEach(commandLine().getOut()::println);
      return ExitCode.OK.code();
    }
    RunCopy.check(resolved, resolved.config().run().sync());
    CommandLine command = commandLine();
    Provenance provenance =
        Provenance.collect(
            BuildInfo.version(),
            now.toInstant(),
            BuildInfo.home(),
            command.getParseResult().originalArgs(),
            Map.of("run", resolved.config().run().seed()));
    Map<String, Object> about = new LinkedHashMap<>(provenance.toMap());
    about.put(RunFolder.KIND, RunFolder.SUPERVISED);
    RunFolder folder =
        RunFolder.create(
            resolved.config().run().folder(),
            stem(source),
            now.toLocalDateTime(),
            new RunFolder.Contents(
                Files.readAllBytes(source), resolved.yaml(), about, provenance.gitDiff()));
    return run(composition, folder, Optional.empty());
  }

  private int again(String name) throws IOException, InvalidVerifierException {
    RunFolder folder = RunFolder.open(RUNS, name);
    if (!folder.isSupervised()) {
      throw refused(
          "%s is no supervised run; continue it by `troupe train --resume`".formatted(name));
    }
    ResolvedConfig<SupervisedConfig> resolved =
        SupervisedConfig.load(folder.resolved(), overrides.values());
    resolved
        .changesSince(SupervisedConfig.load(folder.resolved(), List.of()))
        .forEach(change -> err().println("change " + change));
    err().flush();
    return run(
        SupervisedComposition.of(resolved.config(), folder.checkpoints()),
        folder,
        overrides.values().isEmpty() ? Optional.empty() : Optional.of(resolved.yaml()));
  }

  private int run(SupervisedComposition composition, RunFolder folder, Optional<String> changed)
      throws IOException, InvalidVerifierException {
    CompletableFuture<Integer> stop = new CompletableFuture<>();
    SupervisedOutput output = new SupervisedOutput(System.out, System.err, json);
    Signals.install(
        number -> {
          output.say("stopping after this step (again to stop now, from the last checkpoint)");
          stop.complete(number);
        },
        number -> Runtime.getRuntime().halt(ExitCode.ofSignal(number)));
    output.say("troupe %s · JDK %s".formatted(BuildInfo.version(), Runtime.version().feature()));
    new SupervisedPlanText(composition).summary().forEach(output::say);
    output.say("run    " + folder.name());
    long start = System.nanoTime();
    SupervisedSession.Outcome outcome =
        new SupervisedSession(composition, folder, changed, output, stop).run();
    output.account(outcome, (System.nanoTime() - start) / 1e9);
    composition.data().leftOut().forEach(line -> output.say("       data " + line));
    output.say("folder " + folder.path());
    outcome.policy().ifPresent(policy -> output.say("policy " + policy));
    return switch (outcome.reason()) {
      case COMPLETED -> ExitCode.OK.code();
      case INTERRUPTED -> {
        output.say("resume troupe sft --resume " + folder.path());
        yield ExitCode.ofSignal(stop.join());
      }
      case FAILED -> {
        output.say("error: " + outcome.problem());
        output.say("resume troupe sft --resume " + folder.path());
        yield ExitCode.FAILED.code();
      }
    };
  }

  private static String stem(Path source) {
    String name = String.valueOf(source.getFileName()).toLowerCase(Locale.ROOT);
    int dot = name.lastIndexOf('.');
    return dot > 0 ? String.valueOf(source.getFileName()).substring(0, dot) : name;
  }
}
