package io.troupe.core.advantage;

import static io.troupe.core.advantage.Baseline.CENTRED;
import static io.troupe.core.advantage.Baseline.LEAVE_ONE_OUT;
import static io.troupe.core.advantage.Baseline.STANDARDISED;
import static io.troupe.core.advantage.Baseline.STANDARDISED_UNBIASED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import java.util.Random;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class AdvantagesTest {
  private static final Offset<Double> SIX_DIGITS = within(5e-7);
  private static final Offset<Double> ROUNDING = within(1e-9);

  private static double[] rewards(double... rewards) {
    return rewards;
  }

  /** Between 2 and 17 rewards, at least two of them far enough apart for a deviation above 1e-3. */
  private static double[] randomRewards(Random random) {
    double[] rewards = new double[2 + random.nextInt(16)];
    for (int i = 0; i < rewards.length; i++) {
      rewards[i] = random.nextBoolean() ? random.nextInt(2) : random.nextGaussian();
    }
    rewards[0] = rewards[1] + 1 + random.nextDouble();
    return rewards;
  }

  private static final List<Baseline> OF_A_GROUP =
      List.of(STANDARDISED, STANDARDISED_UNBIASED, CENTRED, LEAVE_ONE_OUT);

  /** The best completion is pushed up, by no more than G - 1 times what a penalty can take. */
  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void of_meanScaledWithAnyPenalties_keepsTheOrderOfTheRewards(long seed) {
    Random random = new Random(seed);
    double[] verified = new double[2 + random.nextInt(7)];
    double[] penalties = new double[verified.length];
    for (int i = 0; i < verified.length; i++) {
      verified[i] = random.nextBoolean() ? random.nextInt(2) : random.nextDouble();
      penalties[i] = -random.nextDouble();
    }
    StepRewards rewards = StepRewards.of(List.of(verified)).with(1.5, List.of(penalties));
    double[] total = rewards.total().getFirst();
    double[] advantages =
        Advantages.of(Baseline.MEAN_SCALED, rewards, List.of(new int[verified.length])).getFirst();

    for (int i = 0; i < total.length; i++) {
      assertThat(Math.abs(advantages[i])).isLessThanOrEqualTo(2.5 * verified.length);
      for (int j = 0; j < total.length; j++) {
        assertThat(total[i] < total[j]).isEqualTo(advantages[i] < advantages[j]);
      }
    }
  }

  @Test
  void of_meanScaledWithPenalties_dividesByTheVerifiersMean() {
    StepRewards cut =
        StepRewards.of(List.of(rewards(1, 0, 0, 0))).with(1, List.of(rewards(-1, -1, -1, -1)));
    assertThat(Advantages.of(Baseline.MEAN_SCALED, cut, List.of(new int[4])).getFirst())
        .containsExactly(3, -1, -1, -1);
    assertThat(Advantages.of(Baseline.MEAN_SCALED, rewards(.5, -.5, -.5, -.5)))
        .containsExactly(3, -1, -1, -1);
  }

  /** A coefficient near 0 leaves the advantages of the verifier's rewards alone. */
  @Test
  void of_partsStandardised_countsEachPartByItsWeight() {
    List<double[]> right = List.of(rewards(1, 0, 0, 0));
    List<double[]> penalty = List.of(rewards(-5, -1, -2, -4));
    double[] alone =
        Advantages.of(Baseline.PARTS_STANDARDISED, StepRewards.of(right), List.of()).getFirst();

    double[] little =
        Advantages.of(
                Baseline.PARTS_STANDARDISED, StepRewards.of(right).with(1e-9, penalty), List.of())
            .getFirst();
    double[] much =
        Advantages.of(
                Baseline.PARTS_STANDARDISED, StepRewards.of(right).with(9, penalty), List.of())
            .getFirst();

    assertThat(little).containsExactly(alone, within(1e-8));
    assertThat(much[0]).isNegative();
  }

  @Test
  void of_meanScaled_isTheDistanceInMeansAndZeroWithoutAReward() {
    assertThat(Advantages.of(Baseline.MEAN_SCALED, new double[] {1, 0, 0, 0}))
        .containsExactly(3, -1, -1, -1);
    assertThat(Advantages.of(Baseline.MEAN_SCALED, new double[] {0, 0})).containsExactly(0, 0);
  }

  @Test
  void of_lengthWeighted_comparesWithTheMeanThatMinimisesTheVariance() {
    List<double[]> step =
        Advantages.of(
            Baseline.LENGTH_WEIGHTED,
            List.of(new double[] {1, 0, 0}, new double[] {0, 1}),
            List.of(new int[] {6, 1, 3}, new int[] {1, 1}));
    assertThat(step.get(0)).containsExactly(new double[] {.4, -.6, -.6}, within(1e-15));
    assertThat(step.get(1)).containsExactly(-.5, .5);
  }

  @Test
  void of_stepBaselines_areInDeviationsOfTheWholeStep() {
    List<double[]> rewards = List.of(new double[] {1, 1}, new double[] {1, 0}, new double[] {0, 0});
    List<int[]> lengths = List.of(new int[] {1, 1}, new int[] {1, 1}, new int[] {1, 1});
    List<double[]> all = Advantages.of(Baseline.STEP_STANDARDISED, rewards, lengths);
    assertThat(all.get(0)).containsExactly(1, 1);
    assertThat(all.get(1)).containsExactly(1, -1);
    assertThat(all.get(2)).containsExactly(-1, -1);
    // What is left after the groups' means: 0, 0, .5, -.5, 0, 0, of variance 1/12.
    List<double[]> left = Advantages.of(Baseline.GROUP_CENTRED_STEP_SCALED, rewards, lengths);
    assertThat(left.get(0)).containsExactly(0, 0);
    assertThat(left.get(1))
        .containsExactly(new double[] {Math.sqrt(3), -Math.sqrt(3)}, within(1e-14));
  }

  private static void assertEqual(Baseline baseline, double[] rewards, double... expected) {
    assertThat(Advantages.of(baseline, rewards)).containsExactly(expected, SIX_DIGITS);
  }

  @Test
  void of_goldenVectorsStandardised_divideByThePopulationDeviation() {
    assertEqual(STANDARDISED, rewards(1, 0, 0, 0), 1.732051, -.577350, -.577350, -.577350);
    assertEqual(STANDARDISED, rewards(1, 1, 0, 0), 1, 1, -1, -1);
    assertEqual(STANDARDISED, rewards(1, .5, 0), 1.224745, 0, -1.224745);
    assertEqual(STANDARDISED, rewards(.2, .4, .6, .8), -1.341641, -.447214, .447214, 1.341641);
  }

  /** Unbiased deviations 0.5, 0.577350 and 0.5 of the same rewards. */
  @Test
  void of_goldenVectorsStandardisedUnbiased_divideByTheUnbiasedDeviation() {
    assertEqual(STANDARDISED_UNBIASED, rewards(1, 0, 0, 0), 1.5, -.5, -.5, -.5);
    assertEqual(STANDARDISED_UNBIASED, rewards(1, 1, 0, 0), .866025, .866025, -.866025, -.866025);
    assertEqual(STANDARDISED_UNBIASED, rewards(1, .5, 0), 1, 0, -1);
    assertEqual(STANDARDISED_UNBIASED, rewards(1), 0);
  }

  @Test
  void of_goldenVectorCentred_onlyCentres() {
    assertEqual(CENTRED, rewards(1, 0, 0, 0), .75, -.25, -.25, -.25);
  }

  /** By hand: 1 against a mean of 0 for the first; 0 against a mean of 1/3 for the others. */
  @Test
  void of_leaveOneOut_comparesWithTheOthers() {
    assertEqual(LEAVE_ONE_OUT, rewards(1, 0, 0, 0), 1, -.333333, -.333333, -.333333);
    assertEqual(LEAVE_ONE_OUT, rewards(3, 1), 2, -2);
  }

  @Test
  void of_equalRewards_areExactlyZero() {
    for (Baseline baseline : OF_A_GROUP) {
      // Three times 0.1 is not 0.3 in binary: a mean of the rewards themselves would be off.
      assertThat(Advantages.of(baseline, rewards(.1, .1, .1))).containsExactly(0, 0, 0);
      assertThat(Advantages.of(baseline, rewards(.7))).containsExactly(0);
    }
  }

  @Test
  void of_deviationBelowTheFloor_dividesByTheFloor() {
    assertThat(Advantages.of(STANDARDISED, rewards(1e-7, -1e-7)))
        .containsExactly(rewards(.1, -.1), ROUNDING);
  }

  @Test
  void of_rewards_leavesItsArgumentAsItWas() {
    double[] rewards = rewards(1, 0);
    Advantages.of(STANDARDISED, rewards);
    assertThat(rewards).containsExactly(1, 0);
  }

  @Test
  void of_badRewards_areRefusedByName() {
    assertThatThrownBy(() -> Advantages.of(STANDARDISED, rewards()))
        .hasMessage("a group has at least one reward");
    assertThatThrownBy(() -> Advantages.of(STANDARDISED, rewards(1, Double.NaN)))
        .hasMessage("a reward is a finite number; reward 1 of the group is NaN");
    assertThatThrownBy(() -> Advantages.degenerate(rewards(Double.POSITIVE_INFINITY)))
        .hasMessage("a reward is a finite number; reward 0 of the group is Infinity");
  }

  @Test
  void degenerate_equalRewardsOrAGroupOfOne_isTrue() {
    assertThat(Advantages.degenerate(rewards(1, 1, 1, 1))).isTrue();
    assertThat(Advantages.degenerate(rewards(.1, .1, .1))).isTrue();
    assertThat(Advantages.degenerate(rewards(1))).isTrue();
    assertThat(Advantages.degenerate(rewards(1, 1 + 1.9e-6))).isTrue();
  }

  @Test
  void degenerate_rewardsThatDiffer_isFalse() {
    assertThat(Advantages.degenerate(rewards(1, 0, 0, 0))).isFalse();
    assertThat(Advantages.degenerate(rewards(1, 1 + 2.1e-6))).isFalse();
    assertThat(Advantages.degenerate(rewards(0, 2e-6))).isFalse(); // deviates by exactly 1e-6
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void of_anyGroup_sumsToZeroWithTheBaselinesDeviation(long seed) {
    double[] rewards = randomRewards(new Random(seed));
    for (Baseline baseline : OF_A_GROUP) {
      double sum = 0;
      double squares = 0;
      for (double a : Advantages.of(baseline, rewards)) {
        sum += a;
        squares += a * a;
      }
      assertThat(sum).isCloseTo(0, ROUNDING);
      if (baseline == STANDARDISED) {
        assertThat(squares / rewards.length).isCloseTo(1, ROUNDING);
      }
    }
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void of_shiftedRewards_areTheSame(long seed) {
    Random random = new Random(seed);
    double[] rewards = randomRewards(random);
    double shift = random.nextGaussian() * 10;
    double[] shifted = rewards.clone();
    for (int i = 0; i < shifted.length; i++) {
      shifted[i] += shift;
    }
    for (Baseline baseline : OF_A_GROUP) {
      assertThat(Advantages.of(baseline, shifted))
          .containsExactly(Advantages.of(baseline, rewards), ROUNDING);
    }
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void of_scaledRewards_scaleUnlessStandardised(long seed) {
    Random random = new Random(seed);
    double[] rewards = randomRewards(random);
    double scale = .5 + random.nextDouble();
    double[] scaled = rewards.clone();
    double[] expected = Advantages.of(CENTRED, rewards);
    for (int i = 0; i < scaled.length; i++) {
      scaled[i] *= scale;
      expected[i] *= scale;
    }
    assertThat(Advantages.of(CENTRED, scaled)).containsExactly(expected, ROUNDING);
    assertThat(Advantages.of(STANDARDISED, scaled))
        .containsExactly(Advantages.of(STANDARDISED, rewards), ROUNDING);
  }
}
