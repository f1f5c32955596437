package io.troupe.benchmarks.engine;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.benchmarks.harness.PairedMeasurement;
import io.troupe.engine.djl.model.AdamWRange;
import io.troupe.engine.djl.model.Decoder;
import io.troupe.engine.djl.torch.NativeTensor;
import io.troupe.engine.djl.torch.NativeTensor.ElementType;
import io.troupe.engine.djl.torch.Torch;
import io.troupe.engine.train.OptimizerSettings;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * AdamW on a flat array in nanoseconds a parameter: with a gradient that is not clipped, with one
 * that is, and with the norm before it. One thread is measured by its processor time, which other
 * work on the machine does not add to; several by the clock.
 */
final class AdamWComparison implements PyTorchComparison {
  private static final long PARAMETERS = 20_000_000;
  private static final int STEPS = 5;
  private static final int CONTEXT = 16;
  private static final double BAR = 1.1;

  /** An epsilon so large that the weights stay finite however long it is measured. */
  private static final OptimizerSettings OPTIMISATION =
      new OptimizerSettings(1e-4, .9, .95, 1e-2, .01, 1);

  /** The seconds of a burst's steps, a part of the step at a time. */
  private record Burst(double unclipped, double update, double whole) {
    double nanos(double seconds) {
      return seconds * 1e9 / PARAMETERS;
    }
  }

  @Override
  public List<PairedMeasurement> run(Setting setting) throws IOException {
    System.err.println("adamw, %,d parameters".formatted(PARAMETERS));
    List<Double> unclipped = new ArrayList<>();
    List<Double> update = new ArrayList<>();
    List<Double> whole = new ArrayList<>();
    List<Double> theirUpdate = new ArrayList<>();
    List<Double> theirWhole = new ArrayList<>();
    Torch.load();
    Torch.enter(setting.threads(), false);
    try (Decoder decoder =
            new Decoder(ModelSize.TINY.settings(CONTEXT), ModelSize.TINY.vocabulary());
        NativeTensor weights = NativeTensor.zeros(ElementType.FLOAT32, PARAMETERS);
        NativeTensor gradient = NativeTensor.zeros(ElementType.FLOAT32, PARAMETERS);
        NativeTensor first = NativeTensor.zeros(ElementType.FLOAT32, PARAMETERS);
        NativeTensor second = NativeTensor.zeros(ElementType.FLOAT32, PARAMETERS);
        AdamWRange optimizer =
            new AdamWRange(decoder, PARAMETERS, PARAMETERS, weights, first, second)) {
      for (int round = -1; round < setting.rounds(); round++) {
        Burst ours = burst(optimizer, gradient, setting.threads());
        Burst theirs = setting.python().present() ? burst(setting.python()) : new Burst(0, 0, 0);
        if (round >= 0) { // the first warms up
          unclipped.add(ours.nanos(ours.unclipped));
          update.add(ours.nanos(ours.update));
          whole.add(ours.nanos(ours.whole));
          if (setting.python().present()) {
            theirUpdate.add(theirs.nanos(theirs.update));
            theirWhole.add(theirs.nanos(theirs.whole));
          }
        }
      }
    }
    return List.of(
        new PairedMeasurement("AdamW", "ns a parameter", unclipped, theirUpdate, BAR, false),
        new PairedMeasurement(
            "AdamW with a clipped gradient",
            "ns a parameter",
            update,
            List.of(),
            Double.NaN,
            false),
        new PairedMeasurement(
            "norm, clip and AdamW", "ns a parameter", whole, theirWhole, BAR, false));
  }

  private static Burst burst(AdamWRange optimizer, NativeTensor gradient, int threads) {
    double unclipped = Double.MAX_VALUE;
    double update = Double.MAX_VALUE;
    double whole = Double.MAX_VALUE;
    for (int step = 1; step <= STEPS; step++) {
      long start = clock(threads);
      double norm = Math.sqrt(optimizer.squaredNorm(gradient));
      long middle = clock(threads);
      optimizer.step(gradient, norm + 2, step, OPTIMISATION);
      long end = clock(threads);
      optimizer.step(gradient, 0, step, OPTIMISATION);
      unclipped = Math.min(unclipped, (clock(threads) - end) / 1e9);
      update = Math.min(update, (end - middle) / 1e9);
      whole = Math.min(whole, (end - start) / 1e9);
    }
    return new Burst(unclipped, update, whole);
  }

  private static long clock(int threads) {
    return threads == 1
        ? ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime()
        : System.nanoTime();
  }

  private static Burst burst(PythonPeer python) throws IOException {
    JsonNode answer = python.call("adamw", Map.of("parameters", PARAMETERS, "steps", STEPS));
    double update = answer.required("update").asDouble();
    return new Burst(update, update, answer.required("whole").asDouble());
  }
}
