package io.troupe.benchmarks.gpu.work;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.troupe.benchmarks.gpu.row.GpuMeasurement;
import io.troupe.benchmarks.gpu.row.GpuMeasurement.Bar;
import io.troupe.benchmarks.gpu.row.GpuRow;
import io.troupe.benchmarks.gpu.row.GpuSetting;
import io.troupe.benchmarks.gpu.row.GpuWork;
import io.troupe.benchmarks.gpu.row.TrainingLoad;
import io.troupe.benchmarks.harness.IdTokenizer;
import io.troupe.core.loss.Correction;
import io.troupe.core.loss.KlEstimator;
import io.troupe.core.loss.LossSettings;
import io.troupe.core.loss.Objective;
import io.troupe.core.loss.TrainingSequence;
import io.troupe.engine.djl.DjlPolicy;
import io.troupe.engine.djl.torch.ComputeSettings;
import io.troupe.engine.djl.torch.Precision;
import io.troupe.engine.djl.torch.Torch;
import io.troupe.engine.djl.train.TrainingMode;
import io.troupe.engine.train.OptimizerSettings;
import io.troupe.engine.train.StepOutcome;
import io.troupe.engine.train.TrainingEngine;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;

/**
 * Training steps in bfloat16 with float32 masters and recomputed layers: tokens a second, MFU, and
 * the peak of memory, first of our trainer, then of plain PyTorch.
 */
record TrainingWork(TrainingLoad given) implements GpuWork {
  static final long SEED = 2026;
  static final OptimizerSettings OPTIMISATION = new OptimizerSettings(1e-6, .9, .95, 1e-8, .01, 1);
  static final LossSettings LOSS =
      new LossSettings(new Objective.Dapo(), .2, .28, new Correction.None(), 0, KlEstimator.K3, 1);

  private static final int WARM_UP = 2;
  private static final int STEPS = 5;
  private static final double GIB = 1 << 30;
  private static final double GB = 1e9;
  private static final double PERCENT = 100;

  /** The bars of a load, by issue and published figures. */
  private record Bars(Bar tokens, Bar utilisation, Bar memory) {
    static Bars of(TrainingLoad load) {
      return switch (load.name()) {
        case "1.7B" -> new Bars(Bar.ratioAtLeast(.85), Bar.atLeast(25), Bar.atMost(43));
        case "4B" -> new Bars(Bar.ratioAtLeast(.85), Bar.NONE, Bar.atMost(91));
        case "0.6B, 16k" -> new Bars(Bar.atLeast(11_900), Bar.NONE, Bar.atMost(12.5 * GIB / GB));
        default -> new Bars(Bar.NONE, Bar.NONE, Bar.NONE);
      };
    }
  }

  /** The numbers of one side. */
  private record Side(double seconds, double bytes) {}

  @Override
  public Outcome measure(GpuSetting setting) throws IOException, InterruptedException {
    TrainingLoad load = given.in(setting);
    Side ours = ours(load, setting);
    JsonNode theirs = theirs(load, setting);
    List<GpuMeasurement> found = new ArrayList<>();
    Bars bars = Bars.of(given);
    GpuRow row = rowOf(given);
    OptionalDouble seconds = GpuPython.number(theirs, "seconds");
    found.add(
        new GpuMeasurement(
            row,
            "training, " + load.name(),
            "tokens/s",
            load.tokens() / ours.seconds,
            map(seconds, each -> load.tokens() / each),
            bars.tokens));
    double rate = setting.machine().operations();
    if (load.kind() != TrainingLoad.Kind.ADAPTED && rate > 0) {
      double operations =
          load.tokens() * load.shape().operationsPerToken(load.length()) * PERCENT / rate;
      found.add(
          new GpuMeasurement(
              row,
              "MFU, " + load.name(),
              "%",
              operations / ours.seconds,
              map(seconds, each -> operations / each),
              bars.utilisation));
    }
    found.add(
        new GpuMeasurement(
            row == GpuRow.G2 ? GpuRow.G3 : row,
            "peak memory, " + load.name(),
            "GB",
            ours.bytes / GB,
            map(GpuPython.number(theirs, "bytes"), each -> each / GB),
            bars.memory));
    return new Outcome(found, notes(theirs));
  }

  private static GpuRow rowOf(TrainingLoad load) {
    for (GpuRow row : GpuRow.values()) {
      if (TrainingLoad.of(row).contains(load)) {
        return row;
      }
    }
    throw new IllegalArgumentException("no row trains " + load.name());
  }

  private interface Change {
    double of(double number);
  }

  private static OptionalDouble map(OptionalDouble number, Change change) {
    return number.isPresent()
        ? OptionalDouble.of(change.of(number.getAsDouble()))
        : OptionalDouble.empty();
  }

  private static List<String> notes(JsonNode theirs) {
    return theirs.has("reason") ? List.of(theirs.required("reason").asText()) : List.of();
  }

  private static Side ours(TrainingLoad load, GpuSetting setting) throws IOException {
    List<TrainingSequence> batch = load.batch();
    long before = DeviceMemory.used(setting);
    DjlPolicy policy =
        DjlPolicy.create(
                load.shape().settings(load.length()),
                new IdTokenizer(load.shape().vocabulary()),
                ComputeSettings.of(1, 1, load.microBatchTokens())
                    .on(setting.device(), Precision.BFLOAT16))
            .trained(new TrainingMode(load.tuning(), TrainingMode.Activations.RECOMPUTED));
    System.err.printf("  our trainer, %s%n", policy.describe());
    try (TrainingEngine trainer = policy.newTrainer(SEED);
        DeviceClock clock = DeviceClock.of(setting)) {
      steps(trainer, load, batch, WARM_UP);
      clock.await();
      Torch.emptyCache(setting.device()); // what making the first weights took is no part of a step
      try (DeviceMemory memory = DeviceMemory.watch(setting)) {
        long start = System.nanoTime();
        steps(trainer, load, batch, STEPS);
        clock.await();
        double seconds = (System.nanoTime() - start) / 1e9 / STEPS;
        return new Side(seconds, memory.most() - before);
      }
    } finally {
      policy.close();
    }
  }

  private static void steps(
      TrainingEngine trainer, TrainingLoad load, List<TrainingSequence> batch, int count)
      throws IOException {
    for (int step = 0; step < count; step++) {
      StepOutcome outcome =
          load.kind() == TrainingLoad.Kind.SUPERVISED
              ? trainer.trainSupervised(batch, OPTIMISATION)
              : trainer.train(batch, LOSS, OPTIMISATION);
      if (outcome instanceof StepOutcome.Skipped(var reason)) {
        throw new IOException("the step of %s was skipped: %s".formatted(load.name(), reason));
      }
    }
  }

  private static JsonNode theirs(TrainingLoad load, GpuSetting setting)
      throws IOException, InterruptedException {
    Torch.emptyCache(setting.device());
    try (GpuPython python = GpuPython.start(setting)) {
      if (!python.present()) {
        return JsonNodeFactory.instance.objectNode().put("reason", python.describe());
      }
      System.err.printf("  plain PyTorch, %s%n", load.name());
      Map<String, Object> arguments = new LinkedHashMap<>();
      arguments.put("sizes", load.shape().sizes(load.length()));
      arguments.put("sequences", load.sequences());
      arguments.put("length", load.length());
      arguments.put("micro_batches", load.microBatches());
      arguments.put("kind", load.kind().name());
      arguments.put("warm_up", WARM_UP);
      arguments.put("steps", STEPS);
      return python.call("train", arguments);
    }
  }
}
