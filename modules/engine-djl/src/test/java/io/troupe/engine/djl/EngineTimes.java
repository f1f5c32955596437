package io.troupe.engine.djl;

import io.troupe.core.completion.Completion;
import io.troupe.core.loss.TrainingSequence;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.djl.model.DecoderSettings;
import io.troupe.engine.djl.model.Fixtures;
import io.troupe.engine.djl.torch.ComputeSettings;
import io.troupe.engine.train.TrainingEngine;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;

/**
 * Times of the quickstart's model: a step on 32 groups of 16 completions, sampling them, a snapshot
 * and its load; least and median of some rounds. Run by hand, with the test class path.
 */
final class EngineTimes {
  private static final int GROUPS = 32;
  private static final int SIZE = 16;
  private static final int ROUNDS = 30;
  private static final DecoderSettings MODEL =
      new DecoderSettings(128, 2, 4, 2, 32, 256, 16, 10_000, 1e-6, true, .02);

  private EngineTimes() {}

  public static void main(String[] arguments) {
    for (int threads : new int[] {1, 2}) {
      DjlPolicy policy =
          DjlPolicy.create(
              MODEL, Fixtures.TOKENIZER, ComputeSettings.of(threads, threads, 1 << 14));
      try (TrainingEngine trainer = policy.newTrainer(1);
          SamplingEngine sampler = policy.newSampler()) {
        System.out.printf(Locale.ROOT, "%s; %s%n", policy.describe(), policy.device());
        times(trainer, sampler);
      }
    }
  }

  private static void times(TrainingEngine trainer, SamplingEngine sampler) {
    sampler.load(trainer.snapshot(WeightVersion.BASE)).toCompletableFuture().join();
    List<List<Completion>> groups = sample(sampler);
    List<TrainingSequence> batch = new ArrayList<>();
    for (int g = 0; g < GROUPS; g++) {
      for (Completion c : groups.get(g)) {
        float[] weights = new float[c.length()];
        Arrays.fill(weights, 1f / (GROUPS * SIZE * c.length()));
        batch.add(
            new TrainingSequence(
                request(g).prompt(), c.tokens(), c.logProbs(), weights, batch.size() % 3 - 1));
      }
    }
    int tokens = batch.stream().mapToInt(s -> s.completion().length).sum();
    System.out.printf(Locale.ROOT, "  %d sequences, %d completion tokens%n", batch.size(), tokens);
    report("train", () -> trainer.train(batch, Fixtures.plainLoss(), Fixtures.adam(1e-4)));
    report("imitate", () -> trainer.trainSupervised(batch.subList(0, 64), Fixtures.adam(1e-4)));
    report("sample", () -> sample(sampler));
    report(
        "snapshot and load",
        () -> sampler.load(trainer.snapshot(WeightVersion.BASE)).toCompletableFuture().join());
  }

  private static SampleRequest request(int group) {
    return new SampleRequest(
        Fixtures.lease(group + 1L),
        Fixtures.TOKENIZER.encode("%02d+%02d=".formatted(group, 99 - group)),
        SIZE,
        new SamplingSettings(1, 5),
        group);
  }

  private static List<List<Completion>> sample(SamplingEngine sampler) {
    List<CompletionStage<List<Completion>>> stages =
        sampler.sample(IntStream.range(0, GROUPS).mapToObj(EngineTimes::request).toList());
    return stages.stream().map(stage -> stage.toCompletableFuture().join()).toList();
  }

  private static void report(String what, Runnable work) {
    long[] nanos = new long[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
      long start = System.nanoTime();
      work.run();
      nanos[round] = System.nanoTime() - start;
    }
    Arrays.sort(nanos);
    System.out.printf(
        Locale.ROOT,
        "  %-18s least %7.2f ms, median %7.2f ms%n",
        what,
        nanos[0] / 1e6,
        nanos[ROUNDS / 2] / 1e6);
  }
}
