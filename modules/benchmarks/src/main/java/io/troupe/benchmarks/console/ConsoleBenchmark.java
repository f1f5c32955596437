package io.troupe.benchmarks.console;

import io.troupe.benchmarks.harness.BenchmarkReport;
import io.troupe.benchmarks.harness.LearningCurve;
import io.troupe.benchmarks.harness.Measurement;
import io.troupe.benchmarks.harness.ResultFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * {@code troupe bench console}: what it costs a run to be watched. Somebody reads its console and
 * goes away again, by turns within one run, and actors with and without the metered mailbox take
 * turns, too.
 */
@Command(
    name = "console",
    mixinStandardHelpOptions = true,
    description =
        "Measures what an open and watched console takes from a run's speed, and what its mailboxes"
            + " take from an actor's.",
    footer = {"", "Example:", "  troupe bench console --rounds 8 --json result.json"})
public final class ConsoleBenchmark implements Callable<Integer> {
  private static final double RUN_BAR = .98;
  private static final double MAILBOX_BAR = .95;

  @Option(names = "--config", description = "What to train.")
  private Path config = Path.of("conf/quickstart.yaml");

  @Option(names = "--steps", description = "Steps of a window, ${DEFAULT-VALUE}.")
  private int steps = 15;

  @Option(
      names = "--rounds",
      description =
          "Times not, yes, yes, not; and pairs of mailboxes. The median counts, default"
              + " ${DEFAULT-VALUE}.")
  private int rounds = 8;

  @Mixin private final ResultFile resultFile = new ResultFile();

  @Override
  public Integer call() throws IOException, InterruptedException {
    if (rounds < 1 || steps < 1) {
      System.err.printf("error: --rounds %d --steps %d: both are 1 or more%n", rounds, steps);
      return 2;
    }
    List<Measurement> results = new ArrayList<>(mailboxes());
    results.addAll(run());
    BenchmarkReport.print("%-88s %,10.3f %-7s %s%n", results);
    return resultFile.end(results);
  }

  private List<Measurement> run() throws IOException, InterruptedException {
    Path folder = Files.createTempDirectory("troupe-bench-console");
    try (ConsoleOnOffRun windows = new ConsoleOnOffRun(folder, steps, rounds)) {
      LearningCurve _ =
          LearningCurve.of(
              config,
              folder,
              List.of(
                  "training.steps=" + windows.steps(),
                  "training.schedule_warmup_steps=0",
                  "evaluation.every=0",
                  "checkpoint.every=100000",
                  "console.port=0"),
              windows);
      if (!windows.watched()) {
        throw new IOException("the console was never read; give more --steps");
      }
      return List.of(
          measured("steps a second, watched : not", windows.speed()),
          measured("  steps a second of CPU time, watched : not", windows.economy()),
          new Measurement(
              "  CPU time of the threads that serve it : the run's",
              windows.servingShare(),
              "",
              Double.NaN,
              1 - RUN_BAR,
              false));
    }
  }

  private static Measurement measured(String name, ConsoleOnOffRun.Ratio ratio) {
    String spread =
        String.format(
            Locale.ROOT, " (half of the fours in %.3f to %.3f)", ratio.low(), ratio.high());
    return new Measurement(name + spread, ratio.middle(), "", Double.NaN, RUN_BAR, true);
  }

  private List<Measurement> mailboxes() {
    List<Measurement> results = new ArrayList<>();
    for (MessageRate.Work work : MessageRate.Work.values()) {
      double[] ratios = new double[rounds];
      MessageRate.measure(work, true);
      MessageRate.measure(work, false);
      for (int round = 0; round < rounds; round++) {
        boolean first = round % 2 == 0;
        double one = MessageRate.measure(work, first);
        double other = MessageRate.measure(work, !first);
        ratios[round] = first ? one / other : other / one;
      }
      results.add(
          new Measurement(
              "a metered actor's rate : a plain one's, " + work.words(),
              BenchmarkReport.median(ratios),
              "",
              Double.NaN,
              work == MessageRate.Work.SOME ? MAILBOX_BAR : Double.NaN,
              true));
    }
    return results;
  }
}
