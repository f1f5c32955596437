package io.troupe.core.rollout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.troupe.core.completion.TokenVersions;
import io.troupe.core.weights.WeightVersion;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StalenessBoundTest {
  private static WeightVersion v(long number) {
    return new WeightVersion(number);
  }

  @Test
  void trainable_tokensOfManyVersions_areThoseWithinTheBound() {
    TokenVersions versions = TokenVersions.of(new long[] {2, 3, 3, 4, 5});
    assertThat(new StalenessBound(0).trainable(versions, v(5)))
        .containsExactly(false, false, false, false, true);
    assertThat(new StalenessBound(2).trainable(versions, v(5)))
        .containsExactly(false, true, true, true, true);
    assertThat(new StalenessBound(3).trainable(versions, v(5)))
        .containsExactly(true, true, true, true, true);
  }

  /** Two completions, of versions 2 to 3 and 4 to 4; the trainer is at {@code trainer}. */
  @ParameterizedTest
  @CsvSource({
    "MASK, 1, 5, false", "MASK, 1, 6, true", "MASK, 0, 4, false", "MASK, 0, 5, true",
    "DROP, 1, 3, false", "DROP, 1, 4, true", "WAIT, 1, 3, false", "WAIT, 1, 4, true",
  })
  void spoiled_policy_looksAtTheDecisiveToken(
      StalePolicy policy, long eta, long trainer, boolean spoiled) {
    GroupSummary group =
        new GroupSummary(
            new LeaseId(new GroupId(1), 1),
            List.of(0.0, 1.0),
            List.of(TokenVersions.of(new long[] {2, 3}), TokenVersions.of(new long[] {4})));
    assertThat(new StalenessBound(eta).tooStale(group, policy, v(trainer))).isEqualTo(spoiled);
  }

  @Test
  void floor_isTheOldestVersionWithinTheBound() {
    assertThat(new StalenessBound(2).floor(v(5))).isEqualTo(v(3));
    assertThat(new StalenessBound(2).floor(v(1))).isEqualTo(v(0));
  }

  @Test
  void bound_negative_isRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new StalenessBound(-1))
        .withMessage("max_staleness is 0 or greater, not -1");
  }
}
