package io.troupe.core.advantage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The deduction from the reward of a long completion, and the normalisation of parts of a reward.
 */
final class OverlongPunishmentTest {
  @Test
  void share_daposNumbers_areThoseOfTheEquation() {
    OverlongPunishment dapo = new OverlongPunishment(4096, 1);

    assertThat(dapo.share(16384, 20480)).isZero();
    assertThat(dapo.share(18432, 20480)).isEqualTo(-0.5);
    assertThat(dapo.share(20480, 20480)).isEqualTo(-1);
    assertThat(new OverlongPunishment(4, 0.5).share(9, 10)).isEqualTo(-0.75);
    assertThat(OverlongPunishment.NONE.share(10, 10)).isZero();
    assertThatThrownBy(() -> new OverlongPunishment(-1, 1))
        .hasMessage("the buffer before a token limit is 0 tokens or more, not -1");
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void share_anyLength_fallsFromNothingToOne(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    int limit = 1 + random.nextInt(200);
    OverlongPunishment punishment =
        new OverlongPunishment(1 + random.nextInt(limit), random.nextDouble(2));

    for (int length = 1; length <= limit; length++) {
      double now = punishment.share(length, limit);
      assertThat(now).isBetween(-1.0, 0.0);
      assertThat(now).isLessThanOrEqualTo(punishment.share(length - 1, limit));
    }
    assertThat(punishment.share(limit - punishment.buffer(), limit)).isZero();
    assertThat(punishment.share(limit, limit)).isEqualTo(-1);
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void of_partsStandardised_doNotDependOnTheUnitOfAPart(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    List<double[]> first = new ArrayList<>();
    List<double[]> second = new ArrayList<>();
    List<double[]> scaled = new ArrayList<>();
    for (int g = 0; g < 5; g++) {
      double[] one = new double[4];
      double[] two = new double[4];
      double[] larger = new double[4];
      for (int i = 0; i < 4; i++) {
        one[i] = i == 0 ? 1 : random.nextInt(2);
        two[i] = -random.nextInt(3) - (i == 0 ? 3 : 0);
        larger[i] = 100 * two[i] + 7;
      }
      one[1] = 0;
      first.add(one);
      second.add(two);
      scaled.add(larger);
    }

    List<double[]> advantages =
        Advantages.of(
            Baseline.PARTS_STANDARDISED, StepRewards.of(first).with(0.5, second), List.of());

    List<double[]> again =
        Advantages.of(
            Baseline.PARTS_STANDARDISED, StepRewards.of(first).with(0.5, scaled), List.of());
    double squares = 0;
    for (int g = 0; g < 5; g++) {
      assertThat(advantages.get(g)).containsExactly(again.get(g), within(1e-9));
      double sum = 0;
      for (double advantage : advantages.get(g)) {
        sum += advantage;
        squares += advantage * advantage;
      }
      assertThat(sum).isCloseTo(0, within(1e-9));
    }
    assertThat(squares / 20).isCloseTo(1, within(1e-9));
  }

  @Test
  void of_sumAndParts_tellApartWhatTheSumConfuses() {
    StepRewards rewards =
        StepRewards.of(List.of(new double[] {1, 0, 0})).with(1, List.of(new double[] {0, 1, 0}));

    assertThat(rewards.total().getFirst()).containsExactly(1, 1, 0);
    assertThat(Advantages.of(Baseline.STANDARDISED, rewards, List.of()).getFirst()[0])
        .isCloseTo(Math.sqrt(0.5), within(1e-12));
    assertThatThrownBy(() -> StepRewards.of(List.of(new double[1])).with(1, List.of()))
        .hasMessage("each part of the rewards has 1 groups, not 0");
  }
}
