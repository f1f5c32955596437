package io.troupe.benchmarks.gpu.work;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.benchmarks.gpu.row.GpuMeasurement;
import io.troupe.benchmarks.gpu.row.GpuMeasurement.Bar;
import io.troupe.benchmarks.gpu.row.GpuRow;
import io.troupe.benchmarks.gpu.row.GpuSetting;
import io.troupe.benchmarks.gpu.row.GpuShape;
import io.troupe.benchmarks.gpu.row.GpuWork;
import io.troupe.engine.djl.model.AdamWRange;
import io.troupe.engine.djl.model.Decoder;
import io.troupe.engine.djl.torch.Device;
import io.troupe.engine.djl.torch.NativeTensor;
import io.troupe.engine.djl.torch.NativeTensor.ElementType;
import io.troupe.engine.djl.torch.Precision;
import io.troupe.engine.djl.torch.Torch;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;

/** AdamW on the flat arrays of a model, without the norm before it. */
record AdamWWork() implements GpuWork {
  private static final int STEPS = 10;
  private static final int CONTEXT = 16;
  private static final double MILLIS = 1e3;
  private static final double NANOS = 1e9;
  private static final Bar MILLIS_BAR = Bar.atMost(25);

  @Override
  public Outcome measure(GpuSetting setting) throws IOException, InterruptedException {
    GpuShape shape = setting.shape(GpuShape.QWEN3_1_7B);
    long parameters = shape.parameters();
    double ours = ours(setting, shape, parameters);
    Torch.emptyCache(setting.device());
    OptionalDouble theirs;
    List<String> notes;
    try (GpuPython python = GpuPython.start(setting)) {
      if (python.present()) {
        JsonNode answer = python.call("adamw", Map.of("parameters", parameters, "steps", STEPS));
        theirs = GpuPython.number(answer, "seconds");
        notes = List.of();
      } else {
        theirs = OptionalDouble.empty();
        notes = List.of(python.describe());
      }
    }
    return new Outcome(
        List.of(
            measurement(setting, "ms a step", ours, theirs, MILLIS, MILLIS_BAR),
            measurement(setting, "ns a parameter", ours, theirs, NANOS / parameters, Bar.NONE)),
        notes);
  }

  private static GpuMeasurement measurement(
      GpuSetting setting, String unit, double ours, OptionalDouble theirs, double scale, Bar bar) {
    return new GpuMeasurement(
        GpuRow.G4,
        "AdamW, " + setting.named("1.7B"),
        unit,
        ours * scale,
        theirs.isPresent()
            ? OptionalDouble.of(theirs.getAsDouble() * scale)
            : OptionalDouble.empty(),
        bar);
  }

  private static double ours(GpuSetting setting, GpuShape shape, long size) {
    Torch.load();
    Torch.enter(1, false);
    Device device = setting.device();
    try (Decoder decoder =
            new Decoder(
                shape.settings(CONTEXT), shape.vocabulary(), device, Precision.FLOAT32, _ -> {});
        NativeTensor weights = NativeTensor.zeros(device, ElementType.FLOAT32, size);
        NativeTensor gradient = NativeTensor.zeros(device, ElementType.FLOAT32, size);
        NativeTensor first = NativeTensor.zeros(device, ElementType.FLOAT32, size);
        NativeTensor second = NativeTensor.zeros(device, ElementType.FLOAT32, size);
        AdamWRange optimizer = new AdamWRange(decoder, size, size, weights, first, second);
        DeviceClock clock = DeviceClock.of(setting)) {
      optimizer.step(gradient, 1, 1, TrainingWork.OPTIMISATION);
      clock.await();
      long start = System.nanoTime();
      for (int step = 0; step < STEPS; step++) {
        optimizer.step(gradient, 1, step + 2, TrainingWork.OPTIMISATION);
      }
      clock.await();
      return (System.nanoTime() - start) / NANOS / STEPS;
    }
  }
}
