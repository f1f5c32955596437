package io.troupe.core.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.core.outage.OutageLimits;
import io.troupe.core.prompt.PromptCursor;
import io.troupe.core.prompt.PromptSampling;
import io.troupe.core.rollout.StalePolicy;
import java.util.BitSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each setting at its bound is taken, and one below is refused with a message that names it. */
class RunLimitsTest {
  @ParameterizedTest
  @CsvSource({
    "0, 1, training pool",
    "1, 2, completions",
    "2, 1, groups",
    "3, 0, max_staleness",
    "4, 1, max_concurrent_groups",
    "5, 1, max_attempts",
    "6, 1, lease",
    "7, 0, drain",
    "8, 1, steps",
    "9, 0, intervals",
    "10, 0, intervals",
    "11, 0, intervals",
    "12, 1, max_filtered_groups"
  })
  void constructor_setting_isBoundedBelow(int setting, int least, String named) {
    int[] values = {5, 2, 1, 0, 1, 1, 1, 0, 1, 0, 0, 0, 1};
    values[setting] = least;
    assertThat(limits(values, 0, false)).isNotNull();
    values[setting] = least - 1;
    assertThatThrownBy(() -> limits(values, 0, false))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(named);
  }

  @ParameterizedTest
  @CsvSource({"0, true", "1, true", "-0.01, true", "7, true", "NaN, false", "Infinity, false"})
  void constructor_target_isAnyFiniteNumber(double target, boolean taken) {
    int[] values = {5, 2, 1, 0, 1, 1, 1, 0, 1, 0, 0, 0, 1};
    if (taken) {
      assertThat(limits(values, target, false).schedule().evaluationTarget()).isEqualTo(target);
    } else {
      assertThatThrownBy(() -> limits(values, target, false)).hasMessageContaining("target");
    }
  }

  @ParameterizedTest
  @CsvSource({"0, true", "1, false"})
  void constructor_lockStep_needsStalenessZero(int staleness, boolean taken) {
    int[] values = {5, 2, 1, staleness, 1, 1, 1, 0, 1, 0, 0, 0, 1};
    if (taken) {
      assertThat(limits(values, 0, true).step().lockStep()).isTrue();
    } else {
      assertThatThrownBy(() -> limits(values, 0, true)).hasMessageContaining("lock-step");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "0, 1, false, true",
    "0, 2, false, false",
    "1, 2, false, true",
    "2, 4, false, false",
    "1, 2, true, true",
    "2, 2, true, false",
    "1, 0, false, false"
  })
  void constructor_uses_areAtMostTheVersionsThatStalenessAllows(
      int staleness, int uses, boolean lockStep, boolean taken) {
    if (taken) {
      assertThat(new RunLimits.Step(3, staleness, StalePolicy.MASK, lockStep, uses).uses())
          .isEqualTo(uses);
    } else {
      assertThatThrownBy(() -> new RunLimits.Step(3, staleness, StalePolicy.MASK, lockStep, uses))
          .hasMessageContaining("use");
    }
  }

  @Test
  void promptAt_listed_isThePositionInEveryEpoch() {
    RunLimits listed = LIMITS_OF_FIVE.inListedOrder();

    for (int epoch = 0; epoch < 3; epoch++) {
      for (int position = 0; position < 5; position++) {
        assertThat(listed.promptAt(new PromptCursor(epoch, position))).isEqualTo(position);
      }
    }
  }

  @Test
  void promptAt_shuffled_visitsEveryPromptOfAMillionOnceAnEpoch() {
    RunLimits million =
        new RunLimits(
            new RunLimits.Prompts(1_000_000, 7, PromptSampling.UNIFORM, 3),
            new RunLimits.Groups(2, 8, 1, true, false, 1),
            new RunLimits.Step(2, 1, StalePolicy.MASK, false),
            new RunLimits.Schedule(1, 0, 0, 0, 0, 1),
            OutageLimits.DEFAULT);
    BitSet seen = new BitSet(1_000_000);
    PromptCursor cursor = new PromptCursor(2, 0);

    while (cursor.epoch() == 2) {
      seen.set(million.promptAt(cursor));
      cursor = cursor.advance(1_000_000);
    }

    assertThat(seen.cardinality()).isEqualTo(1_000_000);
  }

  private static final RunLimits LIMITS_OF_FIVE =
      new RunLimits(
          new RunLimits.Prompts(5, 7, PromptSampling.UNIFORM, 3),
          new RunLimits.Groups(2, 8, 1, true, false, 1),
          new RunLimits.Step(2, 1, StalePolicy.MASK, false),
          new RunLimits.Schedule(1, 0, 0, 0, 0, 1),
          OutageLimits.DEFAULT);

  private static RunLimits limits(int[] v, double target, boolean lockStep) {
    return new RunLimits(
        new RunLimits.Prompts(v[0], 7, PromptSampling.UNIFORM, v[5]),
        new RunLimits.Groups(v[1], v[4], v[6], true, false, v[12]),
        new RunLimits.Step(v[2], v[3], StalePolicy.MASK, lockStep),
        new RunLimits.Schedule(v[8], v[9], v[10], v[11], target, v[7]),
        OutageLimits.DEFAULT);
  }
}
