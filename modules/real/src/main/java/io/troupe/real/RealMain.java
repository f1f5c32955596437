package io.troupe.real;

import io.troupe.base.build.BuildInfo;
import io.troupe.base.process.ExitCode;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code troupe test --real}: Troupe beside the programs that it claims to work with. */
@Command(
    name = "troupe test --real",
    mixinStandardHelpOptions = true,
    description = {
      "Installs the real programs of others at pinned versions, each set of packages in an"
          + " environment below the user's cache folder, and runs Troupe beside each as a user"
          + " would: one at a time, within its limits of time and memory.",
      "A counterpart that cannot be installed is skipped with the reason."
    },
    footer = {
      "",
      "Exit codes: 0 all passed · 1 one was skipped · 2 bad usage · 4 one failed",
      "",
      "Examples:",
      "  troupe test --real",
      "  troupe test --real datasets tokenizers",
      "  troupe test --real datasets --cases 2000 --seed 7",
      "  troupe test --real --record"
    })
public final class RealMain implements Callable<Integer> {
  private static final Duration ALL = Duration.ofMinutes(40);

  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Parameters(paramLabel = "NAME", arity = "0..*", description = "Counterparts (default: all).")
  private List<String> names = new ArrayList<>();

  @Option(names = "--list", description = "Lists the counterparts, and runs none.")
  private boolean list;

  @Option(
      names = "--record",
      description =
          "Writes the recorded answers that the quality gate replays, and the page"
              + " docs/compatibility.md, rather than compare with them.")
  private boolean record;

  @Option(
      names = "--seed",
      paramLabel = "S",
      defaultValue = "1",
      description = "Of the random cases (default: ${DEFAULT-VALUE}).")
  private long seed;

  @Option(
      names = "--cases",
      paramLabel = "N",
      defaultValue = "0",
      description = "Random cases of a driver that has such (default: as many as it likes).")
  private int cases;

  /** Runs the command. */
  public static void main(String[] arguments) {
    System.exit(
        new CommandLine(new RealMain())
            .setExecutionExceptionHandler(
                (failure, _, _) -> {
                  if (!(failure instanceof IOException
                      || failure instanceof IllegalArgumentException)) {
                    throw failure;
                  }
                  System.err.println("error: " + failure.getMessage());
                  return ExitCode.USAGE.code();
                })
            .execute(arguments));
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    CommandLine line = Objects.requireNonNull(spec).commandLine();
    PrintWriter out = line.getOut();
    Path home = BuildInfo.home();
    Path module = home.resolve("modules").resolve("real");
    List<Counterpart> chosen = chosen(Counterpart.readAll(module), line);
    if (list) {
      chosen.forEach(
          each ->
              out.println("%-14s %s\n  %s".formatted(each.name(), each.version(), each.claim())));
      return ExitCode.OK.code();
    }
    Path scratch = Files.createDirectories(home.resolve("target").resolve("real"));
    List<CounterpartResult> results =
        new RealRuns(
                PythonEnvironments.ofUser(System.getenv(), System.err::println),
                new CounterpartRun(home, driverArguments(), record, System.err::println),
                scratch,
                System.err::println)
            .run(chosen, ALL);
    ResultTable.lines(results).forEach(out::println);
    out.flush();
    if (record) {
      record(module, home, chosen, results);
    }
    return exitCode(results).code();
  }

  private List<String> driverArguments() {
    return List.of("--seed", Long.toString(seed), "--cases", Integer.toString(cases));
  }

  private List<Counterpart> chosen(List<Counterpart> all, CommandLine line) {
    List<String> known = all.stream().map(Counterpart::name).toList();
    for (String name : names) {
      if (!known.contains(name)) {
        throw new CommandLine.ParameterException(
            line, "there is no counterpart '%s'; there are %s".formatted(name, known));
      }
    }
    return all.stream().filter(each -> names.isEmpty() || names.contains(each.name())).toList();
  }

  private static void record(
      Path module, Path home, List<Counterpart> counterparts, List<CounterpartResult> results)
      throws IOException {
    RecordedResults recorded = RecordedResults.read(module);
    String today = LocalDate.now(ZoneOffset.UTC).toString();
    for (int i = 0; i < results.size(); i++) {
      recorded = recorded.with(counterparts.get(i), results.get(i), today);
    }
    recorded.write(module, home);
  }

  /** Returns the exit code for results: a failure counts more than one that was skipped. */
  static ExitCode exitCode(List<CounterpartResult> results) {
    if (results.stream().anyMatch(each -> each.failures() > 0)) {
      return ExitCode.FAILED;
    }
    return results.stream().allMatch(CounterpartResult::wasRun) ? ExitCode.OK : ExitCode.INCOMPLETE;
  }
}
