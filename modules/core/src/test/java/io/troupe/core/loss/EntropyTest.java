package io.troupe.core.loss;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.troupe.core.train.StepLoss;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class EntropyTest {
  private static double[] logProbs(double[] logits, double temperature) {
    double sum = Arrays.stream(logits).map(z -> Math.exp(z / temperature)).sum();
    return Arrays.stream(logits).map(z -> z / temperature - Math.log(sum)).toArray();
  }

  @Test
  void of_knownDistributions_isExact() {
    assertThat(Entropy.of(new double[] {Math.log(.5), Math.log(.25), Math.log(.25)}))
        .isCloseTo(1.5 * Math.log(2), within(1e-15));
    assertThat(Entropy.of(new double[] {0, -1e4})).isZero();
  }

  @Test
  void byLogits_randomLogits_isTheDerivativeAndSumsToZero() {
    for (long seed = 0; seed < 200; seed++) {
      Random random = new Random(seed);
      double temperature = .3 + 2 * random.nextDouble();
      double[] logits = random.doubles(2 + random.nextInt(9), -4, 4).toArray();
      double[] derivatives = Entropy.byLogits(logProbs(logits, temperature), temperature);
      assertThat(Arrays.stream(derivatives).sum()).as("seed %d", seed).isCloseTo(0, within(1e-12));
      for (int v = 0; v < logits.length; v++) {
        double h = 1e-5;
        double[] above = logits.clone();
        double[] below = logits.clone();
        above[v] += h;
        below[v] -= h;
        double difference =
            (Entropy.of(logProbs(above, temperature)) - Entropy.of(logProbs(below, temperature)))
                / (2 * h);
        assertThat(derivatives[v]).as("seed %d", seed).isCloseTo(difference, within(1e-7));
      }
    }
  }

  @Test
  void byLogits_smallStepAlongIt_raisesTheEntropyUnlessUniform() {
    for (long seed = 0; seed < 200; seed++) {
      Random random = new Random(seed);
      double[] logits = random.doubles(5, -3, 3).toArray();
      double[] derivatives = Entropy.byLogits(logProbs(logits, 1), 1);
      double[] moved = logits.clone();
      Arrays.setAll(moved, v -> logits[v] + .01 * derivatives[v]);
      assertThat(Entropy.of(logProbs(moved, 1)))
          .as("seed %d", seed)
          .isGreaterThan(Entropy.of(logProbs(logits, 1)));
    }
    assertThat(Entropy.byLogits(logProbs(new double[] {1, 1, 1}, 1), 1))
        .containsExactly(new double[3], within(1e-15));
  }

  @Test
  void add_withABonus_rewardsTheWeightedEntropyOfTrainedTokensOnly() {
    LossSettings s =
        new LossSettings(new Objective.Dapo(), 0, 0, new Correction.None(), 0, KlEstimator.K3, 1);
    TrainingSequence sequence =
        new TrainingSequence(
            new int[] {1}, new int[] {2, 3, 4}, new float[3], new float[] {.5f, 0, .5f}, 0);
    double[] zero = new double[3];
    double[] entropies = {2, Double.NaN, 3};
    StepLoss step = new StepLoss();

    StepLoss.Derivatives by =
        step.add(
            s.withEntropy(.1),
            sequence,
            new StepLoss.Computed(zero, zero, zero, new double[0][], entropies));

    assertThat(step.loss()).isCloseTo(-.1 * (.5 * 2 + .5 * 3), within(1e-15));
    assertThat(by.byEntropy()).containsExactly(-.05, 0, -.05);
  }
}
