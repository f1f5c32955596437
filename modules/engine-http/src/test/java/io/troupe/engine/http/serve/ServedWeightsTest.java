package io.troupe.engine.http.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.WeightSnapshot;
import io.troupe.engine.http.ToyFixture;
import io.troupe.engine.toy.ToyPolicy;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class ServedWeightsTest {
  @Test
  void use_moreVersionsThanARequestSees_forgetsTheNamesOfTheOldest() throws Exception {
    try (ToyPolicy policy = ToyFixture.policy(Duration.ZERO);
        SamplingEngine engine = policy.newSampler()) {
      ServedWeights weights = new ServedWeights(engine, Served.drawsOnly(), false, false);
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
}
