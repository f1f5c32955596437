package io.troupe.engine.djl.decode;

import static io.troupe.engine.djl.model.Fixtures.TOKENIZER;
import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.completion.Completion;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.djl.DjlPolicy;
import io.troupe.engine.djl.model.DecoderSettings;
import io.troupe.engine.djl.model.Fixtures;
import io.troupe.engine.djl.torch.ComputeSettings;
import io.troupe.engine.train.TrainingEngine;
import io.troupe.engine.weights.WeightSnapshot;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A completion has the same bits, alone and in any batch, where decoding is batch-invariant. */
final class BatchInvarianceTest {
  private static final DecoderSettings SETTINGS =
      new DecoderSettings(96, 2, 4, 2, 24, 192, 200, 10_000, 1e-6, true, .3);
  private static final int GROUPS = 24;

  @ParameterizedTest
  @CsvSource({"1, 1", "2, 2", "3, 1"})
  void sample_batchInvariant_completionsHaveTheBitsTheyHaveAlone(long seed, int threads) {
    assertThat(differingCompletions(seed, threads, true)).isEmpty();
  }

  /** Shows that the test can fail: shapes of other rows do change bits otherwise. */
  @ParameterizedTest
  @CsvSource({"1, 1"})
  void sample_shapesOfTheBatch_completionsDiffer(long seed, int threads) {
    assertThat(differingCompletions(seed, threads, false)).isNotEmpty();
  }

  private static List<String> differingCompletions(long seed, int threads, boolean invariant) {
    DjlPolicy policy =
        DjlPolicy.create(
            SETTINGS,
            TOKENIZER,
            ComputeSettings.of(1, threads, 1 << 10).withBatchInvariance(invariant));
    WeightSnapshot weights;
    try (TrainingEngine trainer = policy.newTrainer(seed)) {
      weights = trainer.snapshot(WeightVersion.BASE);
    }
    List<SampleRequest> requests = Fixtures.requests(new Random(seed), GROUPS, 80);
    List<String> different = new ArrayList<>();
    try (SamplingEngine sampler = policy.newSampler()) {
      sampler.load(weights).toCompletableFuture().join();
      List<List<Completion>> together =
          sampler.sample(requests).stream()
              .map(stage -> stage.toCompletableFuture().join())
              .toList();
      for (int g = 0; g < requests.size(); g++) {
        List<Completion> alone =
            sampler.sample(List.of(requests.get(g))).getFirst().toCompletableFuture().join();
        for (int i = 0; i < alone.size(); i++) {
          Completion a = alone.get(i);
          Completion b = together.get(g).get(i);
          if (!Arrays.equals(a.tokens(), b.tokens())
              || !Arrays.equals(a.logProbs(), b.logProbs())) {
            different.add("group %d completion %d".formatted(g, i));
          }
        }
      }
    }
    return different;
  }
}
