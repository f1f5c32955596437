package io.troupe.soak;

import io.troupe.base.process.ExitCode;
import io.troupe.store.audit.AuditText;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code troupe soak}: kills a run again and again, and audits it. */
@Command(
    name = "soak",
    mixinStandardHelpOptions = true,
    description = {
      "Trains a toy policy in a process of its own while that process and its verifiers are killed,"
          + " stopped and drained at random; resumes it each time, and audits its journal.",
      "With --agents, its episodes are those of agent programs in sandboxes, which are killed, too.",
      "With --cluster, over nine processes on loopback: a coordinator, one that waits to become it,"
          + " and two nodes with two workers each. What dies is started again, and every end must"
          + " be followed by a step and by all of them at work.",
      "Ends with the account of the run, and with the first violation."
    },
    footer = {
      "",
      "Exit codes: 0 no violation · 2 bad usage · 4 a violation, or the run could not continue",
      "",
      "Examples:",
      "  troupe soak --minutes 10",
      "  troupe soak --minutes 2 --seed 7",
      "  troupe soak --agents --minutes 5",
      "  troupe soak --cluster --minutes 10"
    })
public final class SoakCommand implements Callable<Integer> {
  /** Mebibytes of the process that a soak of one process kills. */
  private static final int HEAP = 256;

  private final Class<?> main;

  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Option(
      names = "--minutes",
      paramLabel = "M",
      defaultValue = "10",
      description = "How long, in minutes (default: ${DEFAULT-VALUE}).")
  private double minutes;

  @Option(
      names = "--cluster",
      description = "Over many processes: coordinator, standby, two nodes with two workers each.")
  private boolean cluster;

  @Option(
      names = "--agents",
      description = "Episodes of agent programs in sandboxes, with two turns each.")
  private boolean agents;

  @Option(
      names = "--seed",
      paramLabel = "S",
      description = "Of the faults (default: a new one, which is printed).")
  private @Nullable Long seed;

  @Option(
      names = "--folder",
      paramLabel = "DIR",
      description = "For the run and its log (default: runs/soak-<date>-<time>).")
  private @Nullable Path folder;

  /**
   * A soak of the program that starts at a main class.
   *
   * @param main starts the processes of the run
   */
  public SoakCommand(Class<?> main) {
    this.main = main;
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    if (!(minutes > 0 && minutes <= 100_000)) {
      throw new CommandLine.ParameterException(
          Objects.requireNonNull(spec).commandLine(),
          "--minutes is greater than 0 and at most 100000, not " + minutes);
    }
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    long chosen = seed == null ? ThreadLocalRandom.current().nextLong(1, 1_000_000) : seed;
    Path place = (folder == null ? standardFolder() : folder).toAbsolutePath();
    say(out, "soak   %.1f minutes · seed %d · %s".formatted(minutes, chosen, place));
    SoakJvm jvm = SoakJvm.ofThisProcess(main);
    Soak.Settings settings =
        new Soak.Settings(
            jvm.command(HEAP),
            place,
            Duration.ofMillis(Math.round(minutes * 60_000)),
            chosen,
            agents,
            line -> say(out, line));
    return cluster ? many(settings, jvm, out) : one(settings, out);
  }

  private static int one(Soak.Settings settings, PrintWriter out)
      throws IOException, InterruptedException {
    Soak.Outcome outcome = Soak.run(settings);
    say(out, "");
    AuditText.lines(outcome.run(), outcome.audit()).forEach(line -> say(out, line));
    say(out, "");
    say(out, "faults " + outcome.faults() + " · seed " + settings.seed());
    return verdict(outcome.problems(), settings, out);
  }

  private static int many(Soak.Settings settings, SoakJvm jvm, PrintWriter out)
      throws IOException, InterruptedException {
    ClusterSoak.Outcome outcome = ClusterSoak.run(settings, jvm);
    say(out, "");
    AuditText.lines(outcome.run(), outcome.audit()).forEach(line -> say(out, line));
    say(out, "");
    outcome.times().lines().forEach(line -> say(out, line));
    say(out, "");
    say(out, SoakAccount.of(outcome.audit().report()).line());
    say(
        out,
        "%d ends and stops got over · %d processes ended by themselves · seed %d"
            .formatted(outcome.times().count(), outcome.endedByThemselves(), settings.seed()));
    return verdict(outcome.problems(), settings, out);
  }

  private static int verdict(List<String> problems, Soak.Settings settings, PrintWriter out) {
    if (problems.isEmpty()) {
      say(out, "passed");
      return ExitCode.OK.code();
    }
    problems.forEach(problem -> say(out, "FAILED " + problem));
    say(out, "       the run and the logs are in " + settings.folder());
    return ExitCode.FAILED.code();
  }

  private static Path standardFolder() {
    String stamp =
        DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss", Locale.ROOT)
            .format(LocalDateTime.now(ZoneId.systemDefault()));
    return Path.of("runs", "soak-" + stamp);
  }

  private static void say(PrintWriter out, String line) {
    out.println(line);
    out.flush();
  }
}
