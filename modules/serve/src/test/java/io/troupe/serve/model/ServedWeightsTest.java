package io.troupe.serve.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.completion.Completion;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.toy.ToyPolicy;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.serve.ToyFixture;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ServedWeightsTest {
  @Test
  void use_moreVersionsThanARequestSees_forgetsTheNamesOfTheOldest() throws Exception {
    try (ToyPolicy policy = ToyFixture.policy(Duration.ZERO);
        SamplingEngine engine = policy.newSampler()) {
      ServedWeights weights = new ServedWeights(engine, ServedModel.withoutScorer(), false, false);
      WeightSnapshot first = ToyFixture.weights(policy, 0);
      for (long version = 0; version <= ServedWeights.MOST_NAMES; version++) {
        weights.use(
            new WeightSnapshot(new WeightVersion(version), first.digest(), first.tensors()),
            "w" + version);
      }
      assertThat(weights.tag(0)).isEqualTo(ServedWeights.UNNAMED);
      assertThat(weights.tag(1)).isEqualTo("w1");
      assertThat(weights.currentTag()).isEqualTo("w" + ServedWeights.MOST_NAMES);
    }
  }

  /** An engine that takes all weights. */
  private static final class Taking implements SamplingEngine {
    private final List<WeightSnapshot> taken = new ArrayList<>();

    @Override
    public CompletionStage<WeightVersion> load(WeightSnapshot weights) {
      assertThat(lives(weights)).isTrue();
      taken.add(weights);
      return CompletableFuture.completedStage(weights.version());
    }

    @Override
    public List<CompletionStage<List<Completion>>> sample(List<SampleRequest> requests) {
      throw new AssertionError("nobody asks it");
    }

    @Override
    public void cancel(LeaseId lease) {}

    @Override
    public void close() {}
  }

  private static boolean lives(WeightSnapshot weights) {
    return weights.tensors().stream().allMatch(tensor -> tensor.data().scope().isAlive());
  }

  @Test
  void load_weightsThatAreNotKept_letsGoOfWhatItReadOnceTheEngineHasThem(@TempDir Path folder)
      throws Exception {
    Path directory;
    try (ToyPolicy policy = ToyFixture.policy(Duration.ZERO)) {
      directory = ToyFixture.write(ToyFixture.weights(policy, 0), folder);
    }
    Taking engine = new Taking();
    new ServedWeights(engine, ServedModel.withoutScorer(), false, false).load(directory, "");
    new ServedWeights(engine, ServedModel.withoutScorer(), true, false).load(directory, "");
    assertThat(engine.taken).extracting(ServedWeightsTest::lives).containsExactly(false, true);
  }
}
