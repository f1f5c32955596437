package io.troupe.benchmarks.gpu.work;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.benchmarks.gpu.row.GpuMeasurement;
import io.troupe.benchmarks.gpu.row.GpuMeasurement.Bar;
import io.troupe.benchmarks.gpu.row.GpuRow;
import io.troupe.benchmarks.gpu.row.GpuSetting;
import io.troupe.benchmarks.gpu.row.GpuShape;
import io.troupe.benchmarks.gpu.row.GpuWork;
import io.troupe.benchmarks.harness.IdTokenizer;
import io.troupe.core.completion.Completion;
import io.troupe.core.loss.TrainingSequence;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.djl.DjlPolicy;
import io.troupe.engine.djl.model.Tuning;
import io.troupe.engine.djl.torch.ComputeSettings;
import io.troupe.engine.djl.torch.Precision;
import io.troupe.engine.djl.train.TrainingMode;
import io.troupe.engine.safetensors.TensorDigest;
import io.troupe.engine.train.TrainingEngine;
import io.troupe.engine.weights.WeightSnapshot;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Random;
import java.util.concurrent.CompletionStage;

/**
 * Weights of 0.6B from the trainer to a sampler of the same process, and how far the
 * log-probabilities of both are apart on what the sampler samples, in bfloat16.
 */
record PublicationWork() implements GpuWork {
  private static final int PROMPTS = 8;
  private static final int EACH = 4;
  private static final int PROMPT = 32;
  private static final int LONG = 256;
  private static final int SHORT = 16;
  private static final Bar DISTANCE = Bar.atMost(.0104);

  @Override
  public Outcome measure(GpuSetting setting) throws IOException, InterruptedException {
    GpuShape shape = setting.shape(GpuShape.QWEN3_0_6B);
    int tokens = setting.tiny() ? SHORT : LONG;
    DjlPolicy policy =
        DjlPolicy.create(
                shape.settings(PROMPT + tokens),
                new IdTokenizer(shape.vocabulary()),
                ComputeSettings.of(1, 1, PROMPTS * (PROMPT + tokens))
                    .on(setting.device(), Precision.BFLOAT16))
            .trained(new TrainingMode(new Tuning.Full(), TrainingMode.Activations.RECOMPUTED));
    List<GpuMeasurement> found = new ArrayList<>();
    List<String> notes = new ArrayList<>();
    try (TrainingEngine trainer = policy.newTrainer(TrainingWork.SEED);
        SamplingEngine sampler = policy.newSampler()) {
      trainer.snapshot(WeightVersion.BASE); // a run publishes with warm code and memory
      long start = System.nanoTime();
      WeightSnapshot snapshot = trainer.snapshot(WeightVersion.BASE);
      double published = seconds(start);
      start = System.nanoTime();
      TensorDigest.of(snapshot.tensors());
      double digested = seconds(start);
      start = System.nanoTime();
      sampler.load(snapshot).toCompletableFuture().join();
      double loaded = seconds(start);
      found.add(
          row(
              "weights to the host, " + setting.named("0.6B"),
              "s",
              published,
              theirs(setting, shape, notes)));
      found.add(row("of these their digest, " + setting.named("0.6B"), "s", digested));
      found.add(row("weights into a sampler, " + setting.named("0.6B"), "s", loaded));
      found.addAll(sampled(trainer, sampler, shape, tokens));
    }
    policy.close();
    return new Outcome(found, notes);
  }

  private static OptionalDouble theirs(GpuSetting setting, GpuShape shape, List<String> notes)
      throws IOException, InterruptedException {
    try (GpuPython python = GpuPython.start(setting)) {
      if (!python.present()) {
        notes.add(python.describe());
        return OptionalDouble.empty();
      }
      JsonNode answer = python.call("publish", Map.of("sizes", shape.sizes(PROMPT)));
      return GpuPython.number(answer, "seconds");
    }
  }

  private static List<GpuMeasurement> sampled(
      TrainingEngine trainer, SamplingEngine sampler, GpuShape shape, int tokens) {
    Random random = new Random(TrainingWork.SEED);
    List<SampleRequest> requests = new ArrayList<>();
    for (int i = 0; i < PROMPTS; i++) {
      int[] prompt = random.ints(PROMPT, 2, shape.vocabulary()).toArray();
      requests.add(
          new SampleRequest(
              new LeaseId(new GroupId(i + 1L), 1),
              prompt,
              EACH,
              new SamplingSettings(1, tokens),
              i));
    }
    long start = System.nanoTime();
    List<List<Completion>> groups =
        sampler.sample(requests).stream()
            .map(CompletionStage::toCompletableFuture)
            .map(stage -> stage.join())
            .toList();
    double seconds = seconds(start);
    List<TrainingSequence> batch = new ArrayList<>();
    for (int i = 0; i < groups.size(); i++) {
      for (Completion completion : groups.get(i)) {
        float[] weights = new float[completion.tokens().length];
        Arrays.fill(weights, 1);
        batch.add(
            new TrainingSequence(
                requests.get(i).prompt(), completion.tokens(), completion.logProbs(), weights, 1));
      }
    }
    List<double[]> scored = trainer.logProbs(batch, 1);
    double distance = 0;
    long count = 0;
    for (int i = 0; i < batch.size(); i++) {
      float[] behaviour = batch.get(i).behaviourLogProbs();
      for (int t = 0; t < behaviour.length; t++) {
        distance += Math.abs(behaviour[t] - scored.get(i)[t]);
        count++;
      }
    }
    return List.of(
        new GpuMeasurement(
            GpuRow.D1,
            "mean |Δ log p| of trainer and sampler",
            "",
            distance / count,
            OptionalDouble.empty(),
            DISTANCE),
        row("sampling, %d rows".formatted(batch.size()), "tokens/s", count / seconds));
  }

  private static double seconds(long start) {
    return (System.nanoTime() - start) / 1e9;
  }

  private static GpuMeasurement row(String name, String unit, double value) {
    return row(name, unit, value, OptionalDouble.empty());
  }

  private static GpuMeasurement row(String name, String unit, double value, OptionalDouble theirs) {
    return new GpuMeasurement(GpuRow.D1, name, unit, value, theirs, Bar.NONE);
  }
}
