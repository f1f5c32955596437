package io.troupe.benchmarks.engine;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.benchmarks.harness.BenchmarkReport;
import io.troupe.benchmarks.harness.ResultFile;
import io.troupe.benchmarks.harness.WorkerProcess;
import io.troupe.telemetry.CurvePlot;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code troupe bench memory}: whether a long run keeps the memory it takes at its start. */
@Command(
    name = "memory",
    mixinStandardHelpOptions = true,
    description =
        "Trains, samples and swaps weights in one JVM for many steps, and compares the resident"
            + " memory of the last steps with that of the first ones after the warm-up.",
    footer = {"", "Example:", "  troupe bench memory --steps 2000 --plot memory.svg"})
public final class MemoryBenchmark implements Callable<Integer> {
  private static final int WARM_UP = 200;
  private static final int WINDOW = 200;
  private static final int REPORT_EVERY = 100;
  private static final int FEWEST = WARM_UP + 2 * WINDOW;
  private static final double BAR = 1.05;
  private static final double KIB_IN_MIB = 1024;
  private static final String HEAP = "256m";

  @Option(names = "--steps", description = "Steps, 600 or more, default ${DEFAULT-VALUE}.")
  private int steps = 2000;

  @Mixin private final ResultFile resultFile = new ResultFile();

  @Option(names = "--plot", paramLabel = "FILE", description = "Draws the curve there, as SVG.")
  private @Nullable Path plot;

  @Override
  public Integer call() throws IOException {
    if (steps < FEWEST) {
      System.err.printf(
          "error: --steps %d: %d steps warm up, and the first and the last %d after them are"
              + " compared; give %d or more%n",
          steps, WARM_UP, WINDOW, FEWEST);
      return 2;
    }
    double[] resident = measure();
    double early = BenchmarkReport.median(Arrays.copyOfRange(resident, WARM_UP, WARM_UP + WINDOW));
    double late = BenchmarkReport.median(Arrays.copyOfRange(resident, steps - WINDOW, steps));
    double peak = Arrays.stream(resident, WARM_UP, steps).max().orElseThrow();
    boolean flat = late <= BAR * early;
    System.out.printf(
        Locale.ROOT,
        "resident memory, MiB: steps %d to %d %.0f, last %d of %d %.0f, most %.0f; ratio %.3f, bar"
            + " \u2264 %.2f  %s%n",
        WARM_UP + 1,
        WARM_UP + WINDOW,
        early,
        WINDOW,
        steps,
        late,
        peak,
        late / early,
        BAR,
        flat ? "ok" : "MISSED");
    resultFile.write(
        Map.of("steps", steps, "early_mib", early, "late_mib", late, "resident_mib", resident));
    if (plot != null) {
      Files.writeString(plot, plot(resident));
    }
    return flat ? 0 : 4;
  }

  /** Resident memory after each step, in MiB. */
  private double[] measure() throws IOException {
    double[] resident = new double[steps];
    int made = 0;
    try (WorkerProcess worker =
        WorkerProcess.javaWithHeap(HEAP, TrainAndSampleWorker.class, List.of())) {
      while (made < steps) {
        JsonNode answer = worker.ask(Integer.toString(Math.min(REPORT_EVERY, steps - made)));
        for (JsonNode kib : answer.required("resident_kib")) {
          resident[made++] = kib.asDouble() / KIB_IN_MIB;
        }
        System.err.printf(
            Locale.ROOT, "step %d of %d, %.0f MiB resident%n", made, steps, resident[made - 1]);
      }
    }
    return resident;
  }

  private static String plot(double[] resident) {
    List<CurvePlot.Point> points = new ArrayList<>();
    for (int step = 0; step < resident.length; step++) {
      points.add(new CurvePlot.Point(step + 1, resident[step]));
    }
    return new CurvePlot(
            "Train, sample and swap in one JVM",
            "step",
            "resident memory, MiB",
            List.of(new CurvePlot.Series("resident", points)),
            List.of())
        .svg();
  }
}
