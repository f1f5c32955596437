package io.troupe.app;

import io.troupe.app.audit.AuditPage;
import io.troupe.app.soak.Soak;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
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
      "Ends with the account of the run, and with the first violation."
    },
    footer = {
      "",
      "Exit codes: 0 no violation · 2 bad usage · 4 a violation, or the run could not go on",
      "",
      "Examples:",
      "  troupe soak --minutes 10",
      "  troupe soak --minutes 2 --seed 7"
    })
final class SoakCommand implements Callable<Integer> {
  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Option(
      names = "--minutes",
      paramLabel = "M",
      defaultValue = "10",
      description = "How long, in minutes (default: ${DEFAULT-VALUE}).")
  private double minutes;

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
    Soak.Outcome outcome =
        Soak.run(
            new Soak.Settings(
                troupe(),
                place,
                Duration.ofMillis(Math.round(minutes * 60_000)),
                chosen,
                line -> say(out, line)));
    say(out, "");
    AuditPage.lines(outcome.run(), outcome.audit()).forEach(line -> say(out, line));
    say(out, "");
    say(out, "faults " + outcome.faults() + " · seed " + chosen);
    if (outcome.problems().isEmpty()) {
      say(out, "passed");
      return ExitCode.OK.code();
    }
    outcome.problems().forEach(problem -> say(out, "FAILED " + problem));
    say(out, "       the run and soak.log are in " + place);
    return ExitCode.FAILED.code();
  }

  private static Path standardFolder() {
    String stamp =
        DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss", Locale.ROOT)
            .format(LocalDateTime.now(ZoneId.systemDefault()));
    return Path.of("runs", "soak-" + stamp);
  }

  /** This very program, with a small heap. */
  private static List<String> troupe() {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of(
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            "-Xmx256m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-Dstdout.encoding=UTF-8",
            "-Dstderr.encoding=UTF-8",
            "-Dai.djl.offline=true",
            "-cp",
            System.getProperty("java.class.path"),
            Main.class.getName()));
    return command;
  }

  private static void say(PrintWriter out, String line) {
    out.println(line);
    out.flush();
  }
}
