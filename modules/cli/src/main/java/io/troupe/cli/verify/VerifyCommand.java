package io.troupe.cli.verify;

import io.troupe.base.process.ExitCode;
import io.troupe.cli.command.CliCommand;
import io.troupe.config.RunConfig;
import io.troupe.core.reward.JudgedBy;
import io.troupe.core.reward.PassMark;
import io.troupe.verifiers.Isolation;
import io.troupe.verifiers.VerifierProvider;
import io.troupe.verifiers.VerifierSpec;
import io.troupe.verifiers.Verifiers;
import io.troupe.verifiers.pool.PoolSettings;
import io.troupe.verifiers.pool.VerifierService;
import io.troupe.verifiers.pool.VerifierServices;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code troupe verify}: runs a verifier over a file of completions. */
@Command(
    name = "verify",
    description = {
      "Judges the completions of a JSON Lines file: re-scores stored rollouts, tries a verifier.",
      "Every line holds id and completion, and what its verifier judges by: answer (math, gsm8k),"
          + " tests with setup and entry_point (code), instruction_id_list with kwargs"
          + " (instructions). docs/verifiers.md describes all of it."
    },
    footer = {
      "",
      "Output lines, in input order: id, reward, passed, outcome (scored, timeout, crash or"
          + " bad_input), reason, extracted, millis.",
      "A line that cannot be read is reported with its number, and the rest is done.",
      "",
      "Exit codes: 0 all judged · 1 some lines were bad or could not be judged · 2 bad usage ·"
          + " 4 a file could not be read or written",
      "",
      "Examples:",
      "  troupe verify math --input completions.jsonl --output verdicts.jsonl",
      "  troupe verify math --input runs/RUN --stop '</s>' --completions --output verdicts.jsonl",
      "  troupe verify mbpp --input - --output - --workers 4 < completions.jsonl",
      "  troupe verify --list"
    })
public final class VerifyCommand extends CliCommand {
  @Parameters(
      index = "0",
      arity = "0..1",
      paramLabel = "VERIFIER",
      description = "Name of a verifier; --list shows them.")
  private @Nullable String verifier;

  @Option(
      names = "--input",
      paramLabel = "FILE|RUN",
      description =
          "JSON Lines, .gz allowed, a run's rollouts.jsonl among them; - is standard input; a run's"
              + " folder stands for its rollouts.")
  private @Nullable String input;

  @Option(
      names = "--output",
      paramLabel = "FILE",
      description = "JSON Lines; appears whole when all is done. - is standard output.")
  private @Nullable String output;

  @Option(
      names = "--workers",
      paramLabel = "N",
      description = "Verifications at a time (default: ${DEFAULT-VALUE}).")
  private int workers = 2;

  @Option(
      names = "--stop",
      paramLabel = "TEXT",
      description = "Judges a completion up to the first such text in it; may be given many times.")
  private List<String> stops = new ArrayList<>();

  @Option(names = "--completions", description = "Writes what was judged along with the verdicts.")
  private boolean completions;

  @Option(
      names = "--pass-reward",
      paramLabel = "REWARD",
      description =
          "Reward with which a completion passes, or more (default: 1; of a run's folder what the"
              + " run had).")
  private @Nullable Double passReward;

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      description =
          "Most seconds of a verification, for code of one program (default: the verifier's own; 5"
              + " for most).")
  private @Nullable Double timeout;

  @Option(
      names = "--set",
      paramLabel = "OPTION=VALUE",
      description = "An option of the verifier; may be given many times.")
  private List<String> options = new ArrayList<>();

  @Option(
      names = "--plugin",
      paramLabel = "JAR",
      description = "A jar with verifiers of your own; may be given many times.")
  private List<Path> plugins = new ArrayList<>();

  @Option(
      names = "--allow-unsandboxed-code",
      description =
          "Runs the programs that completions hold without a sandbox, as you: only where you trust"
              + " every one of them.")
  private boolean unsandboxed;

  @Option(names = "--list", description = "Prints the verifiers there are, and ends.")
  private boolean list;

  @Override
  public Integer call() throws IOException, InterruptedException {
    if (list) {
      Verifiers.with(plugins).all().forEach(VerifyCommand::print);
      System.out.printf(
          "%-12s %s%n", VerifierServices.COMMAND, "a program of your own: --set run='…'");
      return ExitCode.OK.code();
    }
    if (verifier == null || input == null || output == null) {
      throw bad("give VERIFIER, --input FILE and --output FILE (or --list)");
    }
    if (workers < 1 || workers > 1024) {
      throw bad("--workers is from 1 to 1024, not %d".formatted(workers));
    }
    if (stops.contains("")) {
      throw bad("--stop takes a text of at least one character");
    }
    List<LineFile> lines = LineFile.all(input);
    try (VerifierService service = open(verifier)) {
      VerifySummary summary =
          new FileVerification(
                  verifier,
                  known(verifier)
                      .map(VerifierProvider::judgedBy)
                      .orElseGet(JudgedBy.AllFields::new),
                  service,
                  workers,
                  new CompletionText(stops, completions),
                  mark(input),
                  System.err::println)
              .verify(lines, Objects.requireNonNull(output));
      service.reports().forEach(report -> System.err.println(report.sentence()));
      System.err.println(summary.text());
      return summary.complete() ? ExitCode.OK.code() : ExitCode.INCOMPLETE.code();
    }
  }

  private PassMark mark(String given) {
    if (passReward != null) {
      if (!Double.isFinite(passReward)) {
        throw bad("--pass-reward is a finite number, not " + passReward);
      }
      return new PassMark(passReward);
    }
    Path resolved = Path.of(given, "resolved.yaml");
    return Files.isRegularFile(resolved)
        ? RunConfig.load(resolved, List.of()).config().verifier().mark()
        : PassMark.FULL;
  }

  private VerifierService open(String name) throws IOException {
    Map<String, String> values = new LinkedHashMap<>();
    PoolSettings settings = PoolSettings.of(workers);
    if (timeout != null) {
      long millis = Math.round(timeout * 1000);
      if (millis < 1 || millis > 86_400_000) {
        throw bad("--timeout is from 0.001 to 86400 seconds, not %s".formatted(timeout));
      }
      settings = settings.withDeadline(Duration.ofMillis(millis));
      if (known(name).filter(p -> p.isolation(values) == Isolation.SELF).isPresent()) {
        values.put("timeout", millis + "ms");
      }
    }
    for (String option : options) {
      int equals = option.indexOf('=');
      if (equals <= 0) {
        throw bad("--set takes OPTION=VALUE, not '%s'".formatted(option));
      }
      values.put(option.substring(0, equals), option.substring(equals + 1));
    }
    if (unsandboxed) {
      if (!known(name).map(VerifierProvider::runsCode).orElse(false)) {
        throw bad(
            "verifier %s runs no code, so --allow-unsandboxed-code is not for it".formatted(name));
      }
      values.put("allow_unsandboxed", "true");
      System.err.println(
          "warning: programs written by a model run WITHOUT a sandbox, with all that you may do");
    }
    try {
      Map<String, String> chosen = known(name).map(p -> p.forEvaluation(values)).orElse(values);
      return VerifierServices.open(new VerifierSpec(name, chosen, plugins), settings);
    } catch (IllegalArgumentException wrong) {
      throw bad(String.valueOf(wrong.getMessage()));
    }
  }

  private Optional<VerifierProvider> known(String name) {
    return Verifiers.with(plugins).all().stream().filter(p -> p.name().equals(name)).findFirst();
  }

  private CommandLine.ParameterException bad(String message) {
    return refused(message);
  }

  private static void print(VerifierProvider provider) {
    System.out.printf("%-12s %s%n", provider.name(), provider.summary());
  }
}
