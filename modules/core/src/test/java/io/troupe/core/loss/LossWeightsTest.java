package io.troupe.core.loss;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.troupe.core.loss.Objective.Dapo;
import io.troupe.core.loss.Objective.DrGrpo;
import io.troupe.core.loss.Objective.Grpo;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class LossWeightsTest {
  private static final Offset<Double> SINGLE = within(1e-5);

  /** Three, one and no trainable tokens, among stale ones. */
  private static final List<boolean[]> STEP =
      List.of(
          new boolean[] {true, true, false, true},
          new boolean[] {false, true},
          new boolean[] {false, false, false});

  /** Between 1 and 12 sequences of 1 to 20 tokens, a good part of them stale, one trainable. */
  private static List<boolean[]> randomStep(Random random) {
    List<boolean[]> step = new ArrayList<>();
    int sequences = 1 + random.nextInt(12);
    for (int i = 0; i < sequences; i++) {
      boolean[] trainable = new boolean[1 + random.nextInt(20)];
      double share = random.nextInt(4) / 3.;
      for (int t = 0; t < trainable.length; t++) {
        trainable[t] = random.nextDouble() < share;
      }
      step.add(trainable);
    }
    step.getFirst()[0] = true;
    return step;
  }

  private static double sum(float[] weights) {
    double sum = 0;
    for (float w : weights) {
      sum += w;
    }
    return sum;
  }

  private static double sum(List<float[]> weights) {
    return weights.stream().mapToDouble(LossWeightsTest::sum).sum();
  }

  private static boolean any(boolean[] trainable) {
    return !Arrays.equals(trainable, new boolean[trainable.length]);
  }

  private static void assertWeights(List<float[]> weights, float[]... expected) {
    assertThat(weights).usingElementComparator(Arrays::compare).containsExactly(expected);
  }

  @Test
  void of_grpo_isOneOverSequencesAndOwnTokens() {
    assertWeights(
        LossWeights.of(new Grpo(), STEP),
        new float[] {1 / 6f, 1 / 6f, 0, 1 / 6f},
        new float[] {0, 1 / 2f},
        new float[3]);
  }

  @Test
  void of_drGrpo_isOneOverSequencesAndTheConstant() {
    assertWeights(
        LossWeights.of(new DrGrpo(8), STEP),
        new float[] {1 / 16f, 1 / 16f, 0, 1 / 16f},
        new float[] {0, 1 / 16f},
        new float[3]);
  }

  @Test
  void of_dapo_isOneOverTheTokensOfTheStep() {
    List<float[]> weights = LossWeights.of(new Dapo(), STEP);
    assertWeights(
        weights, new float[] {1 / 4f, 1 / 4f, 0, 1 / 4f}, new float[] {0, 1 / 4f}, new float[3]);
    assertWeights(LossWeights.tokenMean(STEP), weights.toArray(float[][]::new));
  }

  @Test
  void of_noTrainableToken_isZeroThroughout() {
    List<boolean[]> stale = List.of(new boolean[2], new boolean[0]);
    for (Objective objective : List.of(new Grpo(), new DrGrpo(8), new Dapo())) {
      assertWeights(LossWeights.of(objective, stale), new float[2], new float[0]);
    }
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void of_anyStep_weighsExactlyTheTrainableTokens(long seed) {
    List<boolean[]> step = randomStep(new Random(seed));
    for (Objective objective : List.of(new Grpo(), new DrGrpo(8), new Dapo())) {
      List<float[]> weights = LossWeights.of(objective, step);
      assertThat(weights).hasSameSizeAs(step);
      for (int i = 0; i < step.size(); i++) {
        assertThat(weights.get(i)).hasSameSizeAs(step.get(i));
        for (int t = 0; t < step.get(i).length; t++) {
          assertThat(weights.get(i)[t] > 0).isEqualTo(step.get(i)[t]);
        }
      }
    }
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void of_anyStep_sumsToOneUnderGrpoAndDapo(long seed) {
    List<boolean[]> step = randomStep(new Random(seed));
    assertThat(sum(LossWeights.of(new Grpo(), step))).isCloseTo(1, SINGLE);
    assertThat(sum(LossWeights.of(new Dapo(), step))).isCloseTo(1, SINGLE);
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void of_anyStepUnderGrpo_givesEverySequenceWithATrainableTokenTheSame(long seed) {
    List<boolean[]> step = randomStep(new Random(seed));
    long trained = step.stream().filter(LossWeightsTest::any).count();
    List<float[]> weights = LossWeights.of(new Grpo(), step);
    for (int i = 0; i < step.size(); i++) {
      assertThat(sum(weights.get(i))).isCloseTo(any(step.get(i)) ? 1. / trained : 0, SINGLE);
    }
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void of_equalLengths_isTheSameUnderGrpoDapoAndDrGrpoWithThatConstant(long seed) {
    Random random = new Random(seed);
    int length = 1 + random.nextInt(20);
    List<boolean[]> step = new ArrayList<>();
    for (int i = random.nextInt(12); i >= 0; i--) {
      boolean[] trainable = new boolean[length + random.nextInt(3)];
      Arrays.fill(trainable, 0, length, true); // the rest is stale
      step.add(trainable);
    }
    float[][] dapo = LossWeights.of(new Dapo(), step).toArray(float[][]::new);
    assertWeights(LossWeights.of(new Grpo(), step), dapo);
    assertWeights(LossWeights.of(new DrGrpo(length), step), dapo);
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void of_fullyStaleSequenceAdded_changesNoOtherWeight(long seed) {
    List<boolean[]> step = randomStep(new Random(seed));
    List<boolean[]> more = new ArrayList<>(step);
    more.add(new boolean[5]);
    for (Objective objective : List.of(new Grpo(), new DrGrpo(8), new Dapo())) {
      assertWeights(
          LossWeights.of(objective, more).subList(0, step.size()),
          LossWeights.of(objective, step).toArray(float[][]::new));
    }
  }
}
