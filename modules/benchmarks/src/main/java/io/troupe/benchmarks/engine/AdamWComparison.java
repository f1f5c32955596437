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
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** AdamW on a flat array in nanoseconds a parameter: without and with the norm before it. */
final class AdamWComparison implements PyTorchComparison {
  private static final long PARAMETERS = 20_000_000;
  private static final int STEPS = 5;
  private static final int CONTEXT = 16;
  private static final double BAR = 1.1;

  /** An epsilon so large that the weights stay finite however long it is measured. */
  private static final OptimizerSettings OPTIMISATION =
      new OptimizerSettings(1e-4, .9, .95, 1e-2, .01, 1);

  /** The seconds of a burst's steps, a part of the step at a time. */
  private record Burst(double update, double whole) {
    double nanos(double seconds) {
      return seconds * 1e9 / PARAMETERS;
    }
  }

  @Override
  public List<PairedMeasurement> run(Setting setting) throws IOException {
    System.err.println("adamw, %,d parameters".formatted(PARAMETERS));
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
        Burst ours = burst(optimizer, gradient);
        Burst theirs = setting.python().present() ? burst(setting.python()) : new Burst(0, 0);
        if (round >= 0) { // the first warms up
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
        new PairedMeasurement("AdamW, fused", "ns a parameter", update, theirUpdate, BAR, false),
        new PairedMeasurement(
            "norm, clip and AdamW", "ns a parameter", whole, theirWhole, BAR, false));
  }

  private static Burst burst(AdamWRange optimizer, NativeTensor gradient) {
    double update = Double.MAX_VALUE;
    double whole = Double.MAX_VALUE;
    for (int step = 1; step <= STEPS; step++) {
      long start = System.nanoTime();
      double norm = Math.sqrt(optimizer.squaredNorm(gradient));
      long middle = System.nanoTime();
      optimizer.step(gradient, norm + 2, step, OPTIMISATION);
      long end = System.nanoTime();
      update = Math.min(update, (end - middle) / 1e9);
      whole = Math.min(whole, (end - start) / 1e9);
    }
    return new Burst(update, whole);
  }

  private static Burst burst(PythonPeer python) throws IOException {
    JsonNode answer = python.call("adamw", Map.of("parameters", PARAMETERS, "steps", STEPS));
    return new Burst(answer.required("update").asDouble(), answer.required("whole").asDouble());
  }
}
