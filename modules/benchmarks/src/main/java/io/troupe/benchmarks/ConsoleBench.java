package io.troupe.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code troupe bench console}: what it costs a run to be watched. Runs with a console that
 * somebody reads and runs without one take turns, and so do actors with and without the metered
 * mailbox.
 */
@Command(
    name = "console",
    mixinStandardHelpOptions = true,
    description =
        "Measures what an open and watched console takes from a run's speed, and what its mailboxes"
            + " take from an actor's.",
    footer = {"", "Example:", "  troupe bench console --rounds 5 --json result.json"})
final class ConsoleBench implements Callable<Integer> {
  private static final double RUN_BAR = .98;
  private static final double MAILBOX_BAR = .95;

  @Option(names = "--config", defaultValue = "conf/quickstart.yaml", description = "What to train.")
  private Path config = Path.of("conf/quickstart.yaml");

  @Option(names = "--steps", defaultValue = "60", description = "Steps of a run, ${DEFAULT-VALUE}.")
  private int steps = 60;

  @Option(
      names = "--rounds",
      defaultValue = "5",
      description = "Pairs of runs, the median counts, default ${DEFAULT-VALUE}.")
  private int rounds = 5;

  @Option(names = "--json", paramLabel = "FILE", description = "Writes the results there.")
  private @Nullable Path json;

  @Override
  public Integer call() throws IOException, InterruptedException {
    if (rounds < 1 || steps < 1) {
      System.err.printf("error: --rounds %d --steps %d: both are 1 or more%n", rounds, steps);
      return 2;
    }
    List<Measurement> results = new ArrayList<>(mailboxes());
    results.addAll(runs());
    Report.print("%-66s %,10.3f %-7s %s%n", results);
    return Report.end(json, results);
  }

  private List<Measurement> runs() throws IOException, InterruptedException {
    double[] speed = new double[rounds];
    double[] cpu = new double[rounds];
    for (int round = 0; round < rounds; round++) {
      boolean first = round % 2 == 0;
      Curve one = run(first);
      Curve other = run(!first);
      Curve watched = first ? one : other;
      Curve alone = first ? other : one;
      speed[round] = watched.stepsPerSecond() / alone.stepsPerSecond();
      cpu[round] = watched.stepsPerCpuSecond() / alone.stepsPerCpuSecond();
      System.err.printf(
          Locale.ROOT,
          "round %d of %d: %.2f steps/s watched, %.2f without a console, ratio %.3f; a second of"
              + " processor time %.3f%n",
          round + 1,
          rounds,
          watched.stepsPerSecond(),
          alone.stepsPerSecond(),
          speed[round],
          cpu[round]);
    }
    return List.of(
        new Measurement(
            "a watched run's steps a second : those without a console",
            Report.median(speed),
            "",
            Double.NaN,
            RUN_BAR,
            true),
        new Measurement(
            "  the same a second of processor time",
            Report.median(cpu),
            "",
            Double.NaN,
            RUN_BAR,
            true));
  }

  private Curve run(boolean watched) throws IOException, InterruptedException {
    Path folder = Files.createTempDirectory("troupe-bench-console");
    List<String> overrides =
        List.of(
            "training.steps=" + steps,
            "training.schedule_warmup_steps=0",
            "evaluation.target=1",
            "console.enabled=" + watched,
            "console.port=0");
    if (!watched) {
      return Curve.of(config, folder, overrides);
    }
    try (ConsoleReader reader = new ConsoleReader(folder)) {
      Curve curve = Curve.of(config, folder, overrides);
      if (reader.lines() == 0) {
        throw new IOException("the run ended before its console was read; give more --steps");
      }
      return curve;
    }
  }

  private List<Measurement> mailboxes() {
    List<Measurement> results = new ArrayList<>();
    for (TellRate.Work work : TellRate.Work.values()) {
      double[] ratios = new double[rounds];
      TellRate.measure(work, true);
      TellRate.measure(work, false);
      for (int round = 0; round < rounds; round++) {
        boolean first = round % 2 == 0;
        double one = TellRate.measure(work, first);
        double other = TellRate.measure(work, !first);
        ratios[round] = first ? one / other : other / one;
      }
      results.add(
          new Measurement(
              "a metered actor's rate : a plain one's, " + work.words(),
              Report.median(ratios),
              "",
              Double.NaN,
              work == TellRate.Work.SOME ? MAILBOX_BAR : Double.NaN,
              true));
    }
    return results;
  }
}
