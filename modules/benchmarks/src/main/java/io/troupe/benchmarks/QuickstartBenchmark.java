package io.troupe.benchmarks;

import io.troupe.base.files.FileTree;
import io.troupe.benchmarks.harness.LearningCurve;
import io.troupe.benchmarks.harness.Measurement;
import io.troupe.benchmarks.harness.ResultFile;
import io.troupe.telemetry.CurvePlot;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * {@code troupe bench quickstart}: the quickstart, asynchronous against lock-step, or prompts by
 * difficulty against uniform ones, side by side.
 */
@Command(
    name = "quickstart",
    mixinStandardHelpOptions = true,
    description =
        "Trains the quickstart for each seed, asynchronously and in lock-step, one after the other,"
            + " and compares time to the target and steps per second.",
    footer = {
      "",
      "Examples:",
      "  troupe bench quickstart --seeds 1,2,3 --plot curves.svg",
      "  troupe bench quickstart --seeds 1,2,3 --sampling"
    })
final class QuickstartBenchmark implements Callable<Integer> {
  private static final double TARGET = 0.9;
  private static final double MOST_SECONDS = 240;

  /** The share of the groups of uniform prompts that a run with difficulty may take. */
  private static final double MOST_GROUPS = 0.5;

  @Option(names = "--config", description = "What to train.")
  private Path config = Path.of("conf/quickstart.yaml");

  @Option(names = "--seeds", split = ",", description = "Seeds, default ${DEFAULT-VALUE}.")
  private List<Long> seeds = List.of(1L);

  @Mixin private final ResultFile resultFile = new ResultFile();

  @Option(names = "--plot", paramLabel = "FILE", description = "Draws the curves there, as SVG.")
  private @Nullable Path plot;

  @Option(names = "--async-only", description = "Leaves the lock-step runs out.")
  private boolean asyncOnly;

  @Option(
      names = "--sampling",
      description =
          "Compares groups sampled until the target: prompts chosen by difficulty (task.sampling)"
              + " against uniform ones, in place of asynchronous against lock-step.")
  private boolean sampling;

  @Override
  public Integer call() throws IOException, InterruptedException {
    List<Measurement> results = new ArrayList<>();
    List<CurvePlot.Series> series = new ArrayList<>();
    Path runs = Files.createTempDirectory("troupe-bench");
    for (long seed : seeds) {
      if (sampling) {
        compareSampling(runs, seed, results, series);
        continue;
      }
      LearningCurve async = LearningCurve.of(config, runs, List.of("run.seed=" + seed));
      series.add(line("seed %d".formatted(seed), async));
      double baselineSeconds = Double.NaN;
      double baselineRate = Double.NaN;
      if (!asyncOnly) {
        LearningCurve lockStep =
            LearningCurve.of(config, runs, List.of("run.seed=" + seed, "training.max_staleness=0"));
        series.add(line("seed %d, lock-step".formatted(seed), lockStep));
        baselineSeconds = lockStep.secondsTo(TARGET).orElse(Double.NaN);
        baselineRate = lockStep.stepsPerSecond();
      }
      OptionalDouble reached = async.secondsTo(TARGET);
      results.add(
          new Measurement(
              "seed %d: time to held-out accuracy %.1f".formatted(seed, TARGET),
              reached.orElse(Double.POSITIVE_INFINITY),
              "s",
              baselineSeconds,
              Double.isNaN(baselineSeconds) ? MOST_SECONDS : 1,
              false));
      results.add(
          new Measurement(
              "seed %d: training steps".formatted(seed),
              async.stepsPerSecond(),
              "steps/s",
              baselineRate,
              Double.isNaN(baselineRate) ? Double.NaN : 1,
              true));
    }
    FileTree.delete(runs);
    report(results, sampling ? "difficulty" : "async", sampling ? "uniform" : "lock-step");
    int status = resultFile.end(results);
    if (plot != null) {
      Files.writeString(
          plot,
          new CurvePlot(
                  "Quickstart: held-out accuracy",
                  "seconds since the start, warm-up included",
                  "greedy accuracy",
                  series,
                  List.of(new CurvePlot.Level("target", TARGET)))
              .svg());
    }
    return status;
  }

  private void compareSampling(
      Path runs, long seed, List<Measurement> results, List<CurvePlot.Series> series)
      throws IOException, InterruptedException {
    LearningCurve uniform = LearningCurve.of(config, runs, List.of("run.seed=" + seed));
    LearningCurve chosen =
        LearningCurve.of(config, runs, List.of("run.seed=" + seed, "task.sampling=difficulty"));
    series.add(line("seed %d, uniform".formatted(seed), uniform));
    series.add(line("seed %d, difficulty".formatted(seed), chosen));
    results.add(
        new Measurement(
            "seed %d: groups to held-out accuracy %.1f".formatted(seed, TARGET),
            groupsTo(chosen),
            "groups",
            groupsTo(uniform),
            MOST_GROUPS,
            false));
    results.add(
        new Measurement(
            "seed %d: time to held-out accuracy %.1f".formatted(seed, TARGET),
            chosen.secondsTo(TARGET).orElse(Double.POSITIVE_INFINITY),
            "s",
            uniform.secondsTo(TARGET).orElse(Double.NaN),
            Double.NaN,
            false));
  }

  private static double groupsTo(LearningCurve curve) {
    return curve.groupsTo(TARGET).stream()
        .mapToDouble(groups -> groups)
        .findFirst()
        .orElse(Double.POSITIVE_INFINITY);
  }

  private static CurvePlot.Series line(String name, LearningCurve curve) {
    return new CurvePlot.Series(
        name,
        curve.points().stream()
            .map(point -> new CurvePlot.Point(point.seconds(), point.eval()))
            .toList());
  }

  private static void report(List<Measurement> results, String measured, String baseline) {
    System.out.printf(
        Locale.ROOT, "%-42s %10s %10s %8s  %s%n", "", measured, baseline, "ratio", "");
    for (Measurement result : results) {
      System.out.printf(
          Locale.ROOT,
          "%-42s %10s %10s %8s  %s%n",
          result.name() + ", " + result.unit(),
          number(result.value()),
          number(result.baseline()),
          number(result.ratio()),
          result.ok() ? "ok" : "MISSED");
    }
  }

  private static String number(double value) {
    return Double.isFinite(value) ? String.format(Locale.ROOT, "%.2f", value) : "-";
  }
}
