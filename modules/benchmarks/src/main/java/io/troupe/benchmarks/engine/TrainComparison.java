package io.troupe.benchmarks.engine;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.benchmarks.harness.PairedMeasurement;
import io.troupe.benchmarks.harness.WorkerProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Training steps: the median of a burst, and the peak of resident memory of a process that does
 * nothing else, libraries and everything included (VmHWM).
 *
 * <p>Both must compute the same losses and gradient norms, or the comparison says nothing and
 * fails.
 */
final class TrainComparison implements PyTorchComparison {
  private static final double TIME_BAR = 1.05;
  private static final double MEMORY_BAR = 1.2;
  private static final double SAME = 1e-3;
  private static final double SMALL = 1e-3;
  private static final int WARM_UP = 3;
  private static final double KIB_IN_MIB = 1024;
  private static final double MILLIS = 1e3;

  /** The measurements of a process in one burst. */
  private record Burst(
      List<Double> seconds, List<Double> losses, List<Double> norms, double peakMib) {
    static Burst of(JsonNode node) {
      return new Burst(
          numbers(node.required("seconds")),
          numbers(node.required("losses")),
          numbers(node.required("norms")),
          node.required("peak_kib").asDouble() / KIB_IN_MIB);
    }

    private static List<Double> numbers(JsonNode node) {
      List<Double> numbers = new ArrayList<>();
      node.forEach(number -> numbers.add(number.asDouble()));
      return numbers;
    }

    double millis() {
      double[] sorted = seconds.stream().mapToDouble(Double::doubleValue).sorted().toArray();
      int half = sorted.length / 2;
      return MILLIS
          * (sorted.length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2);
    }
  }

  @Override
  public List<PairedMeasurement> run(Setting setting) throws IOException {
    List<PairedMeasurement> results = new ArrayList<>();
    for (TrainCase given : TrainCase.values()) {
      System.err.println("train, " + given.label());
      results.addAll(compare(given, setting));
    }
    return results;
  }

  private static List<PairedMeasurement> compare(TrainCase given, Setting setting)
      throws IOException {
    List<String> worker = List.of(given.name(), Integer.toString(setting.threads()));
    try (WorkerProcess engine = WorkerProcess.java(TrainWorker.class, worker);
        PythonPeer python = setting.python().another()) {
      Burst ours = burst(engine, WARM_UP);
      if (python.present()) {
        prepare(given, setting, python);
        requireSame(given, ours, burst(python, WARM_UP));
      }
      Rounds times = new Rounds(new ArrayList<>(), new ArrayList<>());
      Rounds peaks = new Rounds(new ArrayList<>(), new ArrayList<>());
      for (int round = 0; round < setting.rounds(); round++) {
        ours = burst(engine, given.steps());
        times.ours.add(ours.millis());
        peaks.ours.add(ours.peakMib());
        if (python.present()) {
          Burst theirs = burst(python, given.steps());
          times.theirs.add(theirs.millis());
          peaks.theirs.add(theirs.peakMib());
        }
      }
      return List.of(
          times.measurement("train step, " + given.label(), "ms", TIME_BAR),
          peaks.measurement("train peak memory, " + given.label(), "MiB", MEMORY_BAR));
    }
  }

  /** Values of both sides, one a round. */
  private record Rounds(List<Double> ours, List<Double> theirs) {
    PairedMeasurement measurement(String name, String unit, double bar) {
      return new PairedMeasurement(name, unit, ours, theirs, bar, false);
    }
  }

  /** Gives the baseline the weights that our process begins with, and the batch. */
  private static void prepare(TrainCase given, Setting setting, PythonPeer python)
      throws IOException {
    Path weights = setting.scratch().resolve("train-" + given.size().label() + ".safetensors");
    WorkerProcess.runJava(
        TrainWorker.class,
        List.of(given.name(), Integer.toString(setting.threads()), weights.toString()));
    python.call(
        "load", Map.of("weights", weights.toString(), "sizes", given.size().sizes(given.length())));
    python.call("trainer", given.json());
  }

  private static Burst burst(WorkerProcess engine, int steps) throws IOException {
    return Burst.of(engine.ask(Integer.toString(steps)));
  }

  private static Burst burst(PythonPeer python, int steps) throws IOException {
    return Burst.of(python.call("train", Map.of("steps", steps)));
  }

  private static void requireSame(TrainCase given, Burst ours, Burst theirs) throws IOException {
    for (int step = 0; step < WARM_UP; step++) {
      boolean loss = near(ours.losses.get(step), theirs.losses.get(step));
      boolean norm = near(ours.norms.get(step), theirs.norms.get(step));
      if (!loss || !norm) {
        throw new IOException(
            String.format(
                Locale.ROOT,
                "%s, step %d: loss %.6f and gradient norm %.6f, but PyTorch has %.6f and %.6f; the"
                    + " two do not compute the same, so their times do not compare",
                given.label(),
                step + 1,
                ours.losses.get(step),
                ours.norms.get(step),
                theirs.losses.get(step),
                theirs.norms.get(step)));
      }
    }
  }

  private static boolean near(double a, double b) {
    return Math.abs(a - b) <= SAME * Math.max(SMALL, Math.abs(b));
  }
}
