package io.troupe.core.loss;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.troupe.core.loss.ScalarLoss.SequenceLoss;
import io.troupe.core.loss.ScalarLoss.Token;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** SAPO, GMPO and DPPO: exact values, and gradients against central differences. */
final class SoftAndTrustRegionLossTest {
  private static final double STEP = 1e-6;

  private static LossSettings settings(Objective objective, double clip) {
    return new LossSettings(objective, clip, clip, new Correction.None(), 0, KlEstimator.K3, 1);
  }

  private static SequenceLoss loss(
      LossSettings s, double advantage, double[] logProbs, double[] q) {
    int n = logProbs.length;
    float[] weights = new float[n];
    Arrays.fill(weights, 1f / n);
    List<Token> tokens = new ArrayList<>();
    for (int t = 0; t < n; t++) {
      tokens.add(new Token(logProbs[t], logProbs[t], q[t], 0, 0));
    }
    return ScalarLoss.sequence(
        s, new TrainingSequence(new int[1], new int[n], new float[n], weights, advantage), tokens);
  }

  @Test
  void sapo_ratioOne_hasThePlainGradientAndHalfOfItsGate() {
    SequenceLoss loss =
        loss(settings(new Objective.Sapo(1, 1.05), 0), 2, new double[] {-1}, new double[] {-1});
    assertThat(loss.loss()).isEqualTo(-4); // 4 sigmoid(0) A
    assertThat(loss.gradient()).containsExactly(-2);
  }

  @Test
  void gmpo_oneTokenBeyondTheClip_entersTheMeanCutAndHasNoGradient() {
    SequenceLoss loss =
        loss(
            settings(new Objective.Gmpo(), .4),
            1,
            new double[] {-1, -1},
            new double[] {-2, -1.2}); // x = 1 and 0.2; the first is cut to 0.4
    double ratio = Math.exp(.3);
    assertThat(loss.loss()).isCloseTo(-ratio, within(1e-7));
    assertThat(loss.gradient()[0]).isZero();
    assertThat(loss.gradient()[1]).isCloseTo(-ratio / 2, within(1e-7));
    assertThat(loss.tokens().getFirst().clippedHigh()).isTrue();
  }

  @Test
  void dppo_probabilityBeyondTheRegion_hasGradientOnlyOnTheWayBack() {
    double[] p = {Math.log(.6), Math.log(.3)};
    double[] q = {Math.log(.4), Math.log(.25)};
    LossSettings s = settings(new Objective.Dppo(), .15);
    SequenceLoss pushed = loss(s, 1, p, q);
    assertThat(pushed.gradient()[0]).isZero();
    assertThat(pushed.gradient()[1]).isCloseTo(-.6, within(1e-7));
    assertThat(loss(s, -1, p, q).gradient()[0]).isCloseTo(.75, within(1e-7));
  }

  @Test
  void dppo_tokenAHundredTimesAsLikely_hasTheGradientOfTwentyTimes() {
    double[] p = {Math.log(.1), Math.log(.01)};
    double[] q = {Math.log(.001), Math.log(.001)};
    SequenceLoss loss = loss(settings(new Objective.Dppo(), .15), 1, p, q);
    assertThat(loss.gradient()[0]).isCloseTo(-10, within(1e-7)); // of two tokens
    assertThat(loss.gradient()[1]).isCloseTo(-5, within(1e-7));
    assertThat(loss.loss()).isCloseTo(-(20 * (1 + Math.log(5)) + 10) / 2, within(1e-7));
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void sequence_anyTokens_gradientIsTheCentralDifference(long seed) {
    Random random = new Random(seed);
    int n = 1 + random.nextInt(6);
    double[] p = random.doubles(n, -3, -.05).toArray();
    double[] q = random.doubles(n, -7, -.05).toArray();
    double advantage = random.nextGaussian();
    for (Objective objective :
        List.of(new Objective.Sapo(1, 1.05), new Objective.Gmpo(), new Objective.Dppo())) {
      LossSettings s = settings(objective, objective instanceof Objective.Gmpo ? .4 : .15);
      double[] gradient = loss(s, advantage, p, q).gradient();
      for (int t = 0; t < n; t++) {
        if (Math.abs(Math.abs(p[t] - q[t]) - .4) < 1e-4
            || Math.abs(Math.abs(Math.exp(p[t]) - Math.exp(q[t])) - .15) < 1e-4) {
          continue; // a kink, or DPPO's jump
        }
        double[] more = p.clone();
        double[] less = p.clone();
        more[t] += STEP;
        less[t] -= STEP;
        double difference =
            (loss(s, advantage, more, q).loss() - loss(s, advantage, less, q).loss()) / (2 * STEP);
        assertThat(gradient[t])
            .as("%s, token %d", objective, t)
            .isCloseTo(difference, within(1e-6 * Math.max(1, Math.abs(difference))));
      }
    }
  }
}
