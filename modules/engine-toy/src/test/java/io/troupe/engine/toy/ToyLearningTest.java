package io.troupe.engine.toy;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.completion.Completion;
import io.troupe.core.loss.TrainingSequence;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.train.StepOutcome;
import io.troupe.engine.train.TrainingEngine;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ToyLearningTest {
  private static final int GROUPS = 32;
  private static final int COMPLETIONS = 16;

  private final ToyPolicy policy = new ToyPolicy(Addition.SETTINGS);
  private final Addition addition = new Addition(policy.tokenizer());

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void train_hundredStepsOfGrpoFromRandomWeights_learnsAddition(long seed) {
    Random random = new Random(seed);
    try (TrainingEngine trainer = policy.newTrainer(seed);
        SamplingEngine sampler = policy.newSampler()) {
      WeightVersion version = WeightVersion.BASE;
      Await.one(sampler.load(trainer.snapshot(version)));
      double before = addition.accuracy(sampler, (_, _) -> true);
      for (int step = 0; step < 100; step++) {
        StepOutcome outcome =
            trainer.train(batch(sampler, random), Addition.LOSS, Addition.rate(0.2));
        assertThat(outcome).isInstanceOf(StepOutcome.Stepped.class);
        assertThat(((StepOutcome.Stepped) outcome).metrics().gapMax()).isZero();
        version = version.next();
        Await.one(sampler.load(trainer.snapshot(version)));
      }
      assertThat(before).isLessThan(0.15);
      assertThat(addition.accuracy(sampler, (_, _) -> true)).isGreaterThan(0.9);
    }
  }

  @Test
  void imitate_pairsInOneOrder_teachesTheOtherOrderToo() {
    try (TrainingEngine trainer = policy.newTrainer(1);
        SamplingEngine sampler = policy.newSampler()) {
      List<TrainingSequence> ordered = new ArrayList<>();
      for (int a = 0; a < 10; a++) {
        for (int b = a; b < 10; b++) {
          ordered.add(addition.solution(a, b, 1f / 55));
        }
      }
      for (int step = 0; step < 20; step++) {
        trainer.trainSupervised(ordered, Addition.rate(0.1));
      }
      Await.one(sampler.load(trainer.snapshot(WeightVersion.BASE)));

      assertThat(addition.accuracy(sampler, (a, b) -> a > b)).isEqualTo(1);
    }
  }

  /** Groups of random prompts with their advantages over the group's standard deviation. */
  private List<TrainingSequence> batch(SamplingEngine sampler, Random random) {
    int[] pairs = random.ints(0, 100).distinct().limit(GROUPS).toArray();
    List<SampleRequest> requests = new ArrayList<>();
    for (int pair : pairs) {
      requests.add(addition.request(pair / 10, pair % 10, COMPLETIONS, 1, random.nextLong()));
    }
    List<List<Completion>> answers = Await.all(sampler.sample(requests));
    int tokens = answers.stream().flatMap(List::stream).mapToInt(Completion::length).sum();
    List<TrainingSequence> batch = new ArrayList<>();
    for (int g = 0; g < GROUPS; g++) {
      int pair = pairs[g];
      double[] rewards =
          answers.get(g).stream()
              .mapToDouble(c -> addition.reward(pair / 10, pair % 10, c))
              .toArray();
      double mean = Arrays.stream(rewards).average().orElseThrow();
      double variance =
          Arrays.stream(rewards).map(r -> (r - mean) * (r - mean)).average().orElseThrow();
      for (int i = 0; i < COMPLETIONS; i++) {
        Completion completion = answers.get(g).get(i);
        float[] weights = new float[completion.length()];
        Arrays.fill(weights, 1f / tokens);
        batch.add(
            new TrainingSequence(
                requests.get(g).prompt(),
                completion.tokens(),
                completion.logProbs(),
                weights,
                (rewards[i] - mean) / Math.max(Math.sqrt(variance), 1e-6)));
      }
    }
    return batch;
  }
}
