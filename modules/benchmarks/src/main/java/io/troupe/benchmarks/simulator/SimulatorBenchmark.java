package io.troupe.benchmarks.simulator;

import io.troupe.base.build.BuildInfo;
import io.troupe.base.files.FileTree;
import io.troupe.benchmarks.harness.LearningCurve;
import io.troupe.benchmarks.harness.Measurement;
import io.troupe.benchmarks.harness.PerformancePage;
import io.troupe.benchmarks.harness.ResultFile;
import io.troupe.benchmarks.harness.UpdateOption;
import io.troupe.benchmarks.simulator.PredictedRun.Speed;
import io.troupe.run.simulation.Predictor;
import io.troupe.run.simulation.RunFit;
import io.troupe.run.simulation.UnmodelledRunException;
import io.troupe.sim.fit.MeasuredRun;
import io.troupe.sim.model.LatencyModel;
import io.troupe.sim.report.Prediction;
import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code troupe bench simulator}: predictions of runs beside the runs. */
@Command(
    name = "simulator",
    mixinStandardHelpOptions = true,
    description = {
      "Fits a model from a run of each workload (toy and djl engines, uniform and log-normal"
          + " lengths; 2 workers, max_staleness 1) in each repeat, predicts runs of 1, 3 and 4"
          + " workers with max_staleness 0, 2 and 4, makes these, and compares. Takes some 12"
          + " minutes on a quiet machine of 2 cores."
    },
    footer = {
      "",
      "Examples:",
      "  troupe bench simulator --update",
      "  troupe bench simulator --speed 24",
      "  troupe bench simulator --seconds 4 --repeats 1"
    })
public final class SimulatorBenchmark implements Callable<Integer> {
  private static final double WHOLE = 100;
  private static final double RANKED = 0.9;
  private static final long LEAST_STEPS = 30;
  private static final long PROBE_STEPS = 1_000_000;
  private static final int SEEDS = 5;
  private static final double HOURS = 1;

  @Option(
      names = "--seconds",
      defaultValue = "8",
      description = "Length of each predicted run, default ${DEFAULT-VALUE}.")
  private double seconds = 8;

  @Option(
      names = "--fit-steps",
      description = "Steps of each run that a model is fitted on, default ${DEFAULT-VALUE}.")
  private long fitSteps = 150;

  @Option(names = "--repeats", description = "Runs of each setting, default ${DEFAULT-VALUE}.")
  private int repeats = 3;

  @Option(
      names = "--workload",
      paramLabel = "NAME",
      description =
          "Leaves out the other workloads: toy-uniform, toy-log-normal, djl-uniform or"
              + " djl-log-normal; may be given many times.")
  private List<String> chosen = new ArrayList<>();

  @Option(
      names = "--folder",
      paramLabel = "FOLDER",
      description = "Keeps the runs there; default: a folder that is deleted.")
  private @Nullable Path kept;

  @Mixin private final ResultFile resultFile = new ResultFile();

  @Mixin private final UpdateOption update = new UpdateOption();

  @Option(
      names = "--speed",
      paramLabel = "HOURS",
      description =
          "Measures nothing but the simulator's own processor time, for so many hours of"
              + " conf/1024-gpu.yaml with the lengths of its model and with 512 tokens.")
  private @Nullable Double speed;

  private static final class Compared {
    private final long steps;
    private final List<Speed> predicted = new ArrayList<>();
    private final List<Speed> measured = new ArrayList<>();

    private Compared(long steps) {
      this.steps = steps;
    }
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    if (speed != null) {
      return resultFile.end(measuredSpeed(speed));
    }
    Path folder =
        kept == null ? Files.createTempDirectory("troupe-bench") : Files.createDirectories(kept);
    List<PredictedRun> runs;
    try {
      runs = measured(folder);
    } catch (UnmodelledRunException unfit) {
      throw new IOException(
          unfit.getMessage() + "; raise --fit-steps or --seconds, or look at the runs", unfit);
    }
    if (kept == null) {
      FileTree.delete(folder);
    }
    List<String> table = table(runs);
    table.forEach(System.out::println);
    if (update.given()) {
      PerformancePage.replace("simulator", intro() + "\n\n" + String.join("\n", table) + "\n");
    }
    return resultFile.end(measurements(runs));
  }

  private static List<Measurement> measuredSpeed(double hours) throws IOException {
    try {
      return new SimulatorSpeed(hours).measure(BuildInfo.home().resolve("conf/1024-gpu.yaml"));
    } catch (UnmodelledRunException unfit) {
      throw new IOException(unfit.getMessage(), unfit);
    }
  }

  /*
   * A machine is not as fast in each minute: each repeat begins with the run that its model is fitted
   * on, and the repeats of a setting lie apart.
   */
  private List<PredictedRun> measured(Path folder)
      throws IOException, InterruptedException, UnmodelledRunException {
    Map<SimulatorCase, Compared> all = new LinkedHashMap<>();
    for (int repeat = 1; repeat <= repeats; repeat++) {
      for (SimulatorWorkload workload : workloads()) {
        Path file = workload.write(folder);
        SimulatorCase fitted = SimulatorCase.fitted(workload);
        LatencyModel model =
            RunFit.of(run(file, fitted, fitSteps, repeat, folder, "fitted" + repeat)).model();
        for (SimulatorCase setting : SimulatorCase.predicted(workload)) {
          Compared compared = all.get(setting);
          if (compared == null) {
            compared = new Compared(steps(file, setting, model));
            all.put(setting, compared);
          }
          compared.predicted.add(predict(file, setting, compared.steps, model));
          MeasuredRun run =
              RunFit.measured(run(file, setting, compared.steps, repeat, folder, "r" + repeat));
          compared.measured.add(new Speed(run.stepsPerSecond(), run.stalenessMean()));
        }
      }
    }
    return all.entrySet().stream()
        .map(
            entry ->
                new PredictedRun(
                    entry.getKey(), entry.getValue().predicted, entry.getValue().measured))
        .toList();
  }

  /** The steps that a setting makes in the length of a run. */
  private long steps(Path file, SimulatorCase setting, LatencyModel model)
      throws IOException, UnmodelledRunException {
    double rate = predict(file, setting, PROBE_STEPS, model).steps();
    return Math.max(LEAST_STEPS, Math.round(rate * seconds));
  }

  private List<SimulatorWorkload> workloads() throws IOException {
    List<SimulatorWorkload> all =
        SimulatorWorkload.all().stream()
            .filter(workload -> chosen.isEmpty() || chosen.contains(workload.label()))
            .toList();
    if (all.isEmpty()) {
      throw new IOException(
          "--workload is one of %s, not %s"
              .formatted(
                  SimulatorWorkload.all().stream().map(SimulatorWorkload::label).toList(), chosen));
    }
    return all;
  }

  private Speed predict(Path file, SimulatorCase setting, long steps, LatencyModel model)
      throws IOException, UnmodelledRunException {
    double hours = steps == PROBE_STEPS ? seconds / 3600 : HOURS;
    Prediction prediction =
        new Predictor(SEEDS, 1, hours, List.of()).predict(file, setting.overrides(steps, 1), model);
    return new Speed(prediction.stepsPerSecond().mean(), prediction.staleness().mean());
  }

  private static RunFolder run(
      Path file, SimulatorCase setting, long steps, long seed, Path folder, String round)
      throws IOException, InterruptedException {
    String place = "%s-%d-%s".formatted(setting.workload().label(), setting.workers(), round);
    Path runs = folder.resolve(place);
    LearningCurve.of(file, runs, setting.overrides(steps, seed));
    List<String> names = RunFolder.list(runs);
    return RunFolder.view(runs, names.getLast());
  }

  private String intro() {
    return "%s, `troupe bench simulator --seconds %s --fit-steps %d --repeats %d`: models of runs with"
            .formatted(
                LocalDate.now(ZoneOffset.UTC), PerformancePage.number(seconds), fitSteps, repeats)
        + " 2 workers and max_staleness 1, made before each repeat, predict other settings.";
  }

  private static List<String> table(List<PredictedRun> runs) {
    List<String> lines = new ArrayList<>();
    lines.add(
        "| setting | steps/s | least, most | predicted | error | staleness | predicted | error |"
            + " |");
    lines.add("|---|---:|---:|---:|---:|---:|---:|---:|---|");
    for (PredictedRun run : runs) {
      lines.add(
          String.format(
              Locale.ROOT,
              "| %s | %.2f | %.2f, %.2f | %.2f | %+.1f %% | %.3f | %.3f | %+.3f | %s |",
              run.setting().label(),
              run.mean(Speed::steps),
              run.least(),
              run.most(),
              run.predicted().steps(),
              run.stepsError() * WHOLE,
              run.mean(Speed::staleness),
              run.predicted().staleness(),
              run.stalenessError(),
              run.stepsOk() && run.stalenessOk() ? "ok" : "missed"));
    }
    Pairs pairs = Pairs.of(runs);
    lines.add("");
    lines.add(
        "Of %d pairs of settings of one workload %d are ties; of the others the prediction names the faster one in %d of %d."
            .formatted(pairs.all(), pairs.ties(), pairs.ranked(), pairs.all() - pairs.ties()));
    return lines;
  }

  /** Pairs of settings of one workload, and whether the faster one was predicted. */
  private record Pairs(int all, int ties, int ranked) {
    static Pairs of(List<PredictedRun> runs) {
      int all = 0;
      int ties = 0;
      int ranked = 0;
      for (PredictedRun one : runs) {
        for (PredictedRun other : runs.subList(runs.indexOf(one) + 1, runs.size())) {
          if (one.setting().workload().equals(other.setting().workload())) {
            all++;
            if (one.ties(other)) {
              ties++;
            } else if (one.ranks(other)) {
              ranked++;
            }
          }
        }
      }
      return new Pairs(all, ties, ranked);
    }
  }

  private static List<Measurement> measurements(List<PredictedRun> runs) {
    List<Measurement> all = new ArrayList<>();
    for (PredictedRun run : runs) {
      String label = run.setting().label();
      all.add(
          new Measurement(
              label + ": error of steps/s",
              Math.abs(run.stepsError()),
              "",
              Double.NaN,
              PredictedRun.MOST_ERROR,
              false));
      all.add(
          new Measurement(
              label + ": error of staleness",
              Math.abs(run.stalenessError()),
              "versions",
              Double.NaN,
              run.mostStalenessError(),
              false));
    }
    Pairs pairs = Pairs.of(runs);
    all.add(
        new Measurement(
            "faster settings named",
            pairs.ranked(),
            "pairs",
            Double.NaN,
            RANKED * (pairs.all() - pairs.ties()),
            true));
    return all;
  }
}
