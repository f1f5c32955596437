package io.troupe.cli.replay;

import io.troupe.base.build.BuildInfo;
import io.troupe.base.process.ExitCode;
import io.troupe.cli.command.CliCommand;
import io.troupe.cli.command.RunArgument;
import io.troupe.run.fork.RunFork;
import io.troupe.run.fork.RunPair;
import io.troupe.run.replay.ReplayRefusedException;
import io.troupe.run.replay.ReplayReport;
import io.troupe.run.replay.ReplaySettings;
import io.troupe.run.replay.RunReplay;
import io.troupe.run.session.JsonText;
import io.troupe.run.simulation.UnmodelledRunException;
import io.troupe.run.task.InvalidVerifierException;
import io.troupe.store.folder.Provenance;
import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code troupe replay}: makes a run again from its journal and compares every bit. */
@Command(
    name = "replay",
    description = {
      "Makes an asynchronous run again from its journal: samples every scored group with the weights"
          + " of its tokens, makes every step, and compares tokens, log-probabilities and weights"
          + " bit for bit. Rewards are the recorded ones. The run folder is not changed.",
      "Runs over inference servers, tools or the toy engine cannot be sampled again: where they stored"
          + " their tokens (recording.tokens), their training alone is made again from these.",
      "With --set it continues the run from step --from with keys changed, as a fork: a run folder of"
          + " its own, computed by the run's engines at the times that the run's own records fit."
    },
    footer = {
      "",
      "Exit codes: 0 all bits are equal, or the fork is made · 1 they are not, the first difference is"
          + " named, or the fork breaks a promise · 2 no such run, or it cannot be replayed here",
      "",
      "Examples:",
      "  troupe replay quickstart-20261121-140200",
      "  troupe replay runs/quickstart-20261121-140200 --to 20 --json",
      "  troupe replay qwen3-vllm-20261121-140200 --training --from 300",
      "  troupe replay quickstart-20261121-140200 --from 100 --set training.learning_rate=1e-3"
    })
public final class ReplayCommand extends CliCommand {
  @Mixin private RunArgument run = new RunArgument();

  @Option(
      names = "--from",
      paramLabel = "STEP",
      description =
          "Begins at the newest place at or before this step: the beginning of the run, or a"
              + " checkpoint from which a process continued it. Default: the beginning. With --set: the"
              + " step behind which the fork goes its own way.")
  private long from;

  @Option(
      names = "--to",
      paramLabel = "STEP",
      description =
          "The last step; default: all. A fork drains there, which may end one step more that has"
              + " begun; default: the run's last step.")
  private long to = Long.MAX_VALUE;

  @Option(
      names = "--anyway",
      description = "Replay with another library or machine too, and note what differs.")
  private boolean anyway;

  @Option(
      names = "--training",
      description =
          "Makes the steps alone, from the tokens that the run stored (recording.tokens); begins at"
              + " the newest checkpoint at or before --from.")
  private boolean training;

  @Option(
      names = "--set",
      paramLabel = "KEY=VALUE",
      description =
          "Makes a fork with this key changed; may be given many times. Keys of training, loss,"
              + " supervised and most of rollout can change.")
  private List<String> changes = new ArrayList<>();

  @Option(
      names = {"-o", "--output"},
      paramLabel = "DIR",
      description = "Folder of the fork; default: beside the run, named after run and step.")
  private @Nullable Path output;

  @Option(names = "--json", description = "One JSON object instead of text.")
  private boolean json;

  @Override
  public Integer call()
      throws IOException, ReplayRefusedException, UnmodelledRunException, InvalidVerifierException {
    PrintWriter out = out();
    PrintWriter err = err();
    if (!changes.isEmpty()) {
      return fork(out, err);
    }
    if (output != null) {
      throw new ReplayRefusedException("-o is the folder of a fork; say with --set what changes");
    }
    ReplaySettings settings = settings();
    ReplayReport report = RunReplay.of(run.view(), settings, line -> printAtOnce(err, line));
    if (json) {
      out.println(new JsonText().line(report.toMap()));
    } else {
      report.lines().forEach(out::println);
    }
    out.flush();
    return (report.difference().isEmpty() ? ExitCode.OK : ExitCode.INCOMPLETE).code();
  }

  private int fork(PrintWriter out, PrintWriter err)
      throws IOException, ReplayRefusedException, UnmodelledRunException, InvalidVerifierException {
    if (anyway || training) {
      throw new ReplayRefusedException(
          "a fork is sampled by the run's engines, with the run's bits; leave %s out"
              .formatted(anyway ? "--anyway" : "--training"));
    }
    RunFolder parent = run.view();
    Path folder =
        output == null
            ? parent.path().resolveSibling("%s-from%d".formatted(parent.name(), from))
            : output;
    if (output != null && Files.exists(output)) {
      throw new ReplayRefusedException(
          "-o %s exists; name a folder that does not, or move it away".formatted(output));
    }
    Provenance provenance =
        Provenance.collect(
            BuildInfo.version(),
            Instant.now(),
            BuildInfo.home(),
            commandLine().getParseResult().originalArgs(),
            Map.of());
    RunFork.Request request =
        new RunFork.Request(
            from,
            to == Long.MAX_VALUE ? OptionalLong.empty() : OptionalLong.of(to),
            changes,
            folder);
    RunFork.Made fork =
        RunFork.of(parent, request, provenance.toMap(), line -> printAtOnce(err, line));
    print(fork, RunPair.of(parent, fork.folder()), out);
    return (fork.result().audit().sound() ? ExitCode.OK : ExitCode.INCOMPLETE).code();
  }

  private void print(RunFork.Made fork, RunPair pair, PrintWriter out) {
    boolean sound = fork.result().audit().sound();
    if (json) {
      Map<String, Object> map = new LinkedHashMap<>();
      map.put("fork", fork.folder().path().toString());
      map.put("steps", fork.steps());
      map.put("virtual_seconds", fork.seconds());
      map.put("sound", sound);
      map.put("comparison", pair.toMap());
      out.println(new JsonText().line(map));
    } else {
      out.println("folder   " + fork.folder());
      out.println(
          "made     %,d steps in %.1f s of virtual time%s"
              .formatted(
                  fork.steps(),
                  fork.seconds(),
                  sound ? "" : ", and a promise is broken: see audit"));
      pair.lines().forEach(out::println);
    }
    out.flush();
  }

  private static void printAtOnce(PrintWriter writer, String line) {
    writer.println(line);
    writer.flush();
  }

  private ReplaySettings settings() throws ReplayRefusedException {
    try {
      return new ReplaySettings(from, to, anyway, training);
    } catch (IllegalArgumentException wrong) {
      throw new ReplayRefusedException(String.valueOf(wrong.getMessage()));
    }
  }
}
