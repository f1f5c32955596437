package io.troupe.cluster.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.troupe.core.train.Correction;
import io.troupe.core.train.KlEstimator;
import io.troupe.core.train.LossSettings;
import io.troupe.core.train.Objective;
import io.troupe.core.train.TrainingSequence;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.Optimisation;
import io.troupe.engine.StepOutcome;
import io.troupe.engine.TrainingEngine;
import io.troupe.engine.WeightSnapshot;
import io.troupe.engine.parallel.Collective;
import io.troupe.engine.parallel.TrainerRank;
import io.troupe.engine.toy.ToyPolicy;
import io.troupe.engine.toy.ToySettings;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The toy policy's ranks against its trainer of one process, on the same batches. */
class TrainerRankTest {
  private static final ToyPolicy POLICY =
      new ToyPolicy(new ToySettings("abcdef", 16, 4, 7, Duration.ZERO));
  private static final LossSettings LOSS =
      new LossSettings(new Objective.Dapo(), .2, .28, new Correction.None(), 0, KlEstimator.K3, 1);
  private static final Optimisation OPTIMISATION = new Optimisation(1e-2, .9, .95, 1e-8, .1, .5);
  private static final long SEED = 3;
  private static final int SEQUENCES = 12;
  private static final int STEPS = 6;

  @TempDir Path folder;

  /** The whole batch of a step, its denominators in the loss weights. */
  private static List<TrainingSequence> batch(int step) {
    SplittableRandom random = new SplittableRandom(step);
    List<TrainingSequence> batch = new ArrayList<>();
    for (int s = 0; s < SEQUENCES; s++) {
      int[] prompt = random.ints(3, 2, 8).toArray();
      int[] completion = random.ints(1 + random.nextInt(4), 2, 8).toArray();
      float[] behaviour = new float[completion.length];
      float[] lossWeights = new float[completion.length];
      for (int t = 0; t < completion.length; t++) {
        behaviour[t] = (float) -random.nextDouble(1.5, 2.5);
        lossWeights[t] = 1f / (4 * SEQUENCES);
      }
      batch.add(
          new TrainingSequence(
              prompt, completion, behaviour, lossWeights, random.nextDouble(-1, 1)));
    }
    return batch;
  }

  private static float[] values(WeightSnapshot snapshot) {
    return snapshot.tensors().getFirst().data().toArray(ValueLayout.JAVA_FLOAT_UNALIGNED);
  }

  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Trained(float[] weights, List<Double> norms) {}

  private static Trained whole() {
    try (TrainingEngine trainer = POLICY.newTrainer(SEED)) {
      List<Double> norms = new ArrayList<>();
      for (int step = 0; step < STEPS; step++) {
        StepOutcome.Stepped stepped =
            (StepOutcome.Stepped) trainer.train(batch(step), LOSS, OPTIMISATION);
        norms.add(stepped.gradientNorm());
      }
      return new Trained(values(trainer.snapshot(new WeightVersion(STEPS))), norms);
    }
  }

  /** Half of the steps by one group, the rest by another that starts from what the first left. */
  private List<Trained> ranks(int size) throws Exception {
    List<Trained> results = new ArrayList<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(size)) {
      List<Future<Trained>> futures =
          IntStream.range(0, size)
              .mapToObj(rank -> threads.submit(() -> rank(rank, size)))
              .toList();
      for (Future<Trained> future : futures) {
        results.add(future.get(120, TimeUnit.SECONDS));
      }
    }
    return results;
  }

  private Trained rank(int rank, int size) throws Exception {
    List<Double> norms = new ArrayList<>();
    Path shard = folder.resolve("shard-%d-of-%d".formatted(rank, size));
    WeightSnapshot published;
    try (Collective group = group("first", rank, size);
        TrainerRank trainer = POLICY.newRank(SEED, group)) {
      steps(trainer, rank, size, 0, STEPS / 2, norms);
      trainer.saveShard(shard);
      published = trainer.snapshot(new WeightVersion(STEPS / 2));
    }
    try (Collective group = group("second", rank, size);
        TrainerRank trainer = POLICY.newRank(SEED + 1, group)) {
      trainer.load(published);
      trainer.restoreShard(shard);
      steps(trainer, rank, size, STEPS / 2, STEPS, norms);
      return new Trained(values(trainer.snapshot(new WeightVersion(STEPS))), norms);
    }
  }

  private Collective group(String name, int rank, int size) throws Exception {
    return HostMemory.join(folder.resolve(name + size), rank, size, 1024, Duration.ofSeconds(60));
  }

  private static void steps(
      TrainerRank trainer, int rank, int size, int from, int to, List<Double> norms)
      throws Exception {
    for (int step = from; step < to; step++) {
      List<TrainingSequence> all = batch(step);
      List<TrainingSequence> part =
          IntStream.range(0, all.size()).filter(i -> i % size == rank).mapToObj(all::get).toList();
      norms.add(((StepOutcome.Stepped) trainer.train(part, LOSS, OPTIMISATION)).gradientNorm());
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 4})
  void train_ranks_areTheTrainerOfTheWholeBatch(int size) throws Exception {
    Trained whole = whole();
    for (Trained rank : ranks(size)) {
      for (int i = 0; i < whole.weights().length; i++) {
        assertThat(rank.weights()[i]).isCloseTo(whole.weights()[i], within(1e-5f));
      }
      for (int step = 0; step < STEPS; step++) {
        assertThat(rank.norms().get(step)).isCloseTo(whole.norms().get(step), within(1e-5));
      }
    }
  }
}
