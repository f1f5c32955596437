package io.troupe.core.loss;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.troupe.core.loss.Correction.None;
import io.troupe.core.loss.Correction.TruncatedImportance;
import io.troupe.core.loss.Objective.Grpo;
import io.troupe.core.loss.ScalarLoss.TokenLoss;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class ScalarLossPropertyTest {
  private static final int TOKENS = 50;
  private static final double STEP = 1e-6;

  private record Token(
      double logProb, double start, double behaviour, double reference, double advantage) {
    static Token random(Random random) {
      double behaviour = -3 * random.nextDouble();
      double start = behaviour + .5 * random.nextGaussian();
      return new Token(
          start + .5 * random.nextGaussian(),
          start,
          behaviour,
          behaviour + random.nextGaussian(),
          random.nextInt(10) == 0 ? 0 : random.nextGaussian());
    }

    Token at(double other) {
      return new Token(other, start, behaviour, reference, advantage);
    }

    TokenLoss loss(LossSettings s) {
      return GoldenBatch.token(s, logProb, start, behaviour, reference, advantage);
    }

    /** Distance of the surrogate's ratio from the nearer end of the clip range, in nats. */
    double toKink(LossSettings s) {
      double logRatio = logProb - (s.offPolicy().correction() instanceof None ? behaviour : start);
      double low = Math.abs(logRatio - Math.log(1 - s.clip().low()));
      double high = Math.abs(logRatio - Math.log(1 + s.clip().high()));
      return Math.min(low, high);
    }
  }

  private static LossSettings randomSettings(Random random) {
    return new LossSettings(
        new Grpo(),
        random.nextInt(3) == 0 ? 0 : random.nextDouble(),
        random.nextInt(3) == 0 ? 0 : random.nextDouble(),
        random.nextBoolean() ? new None() : new TruncatedImportance(.5 + 2 * random.nextDouble()),
        random.nextInt(3) == 0 ? 0 : random.nextDouble(),
        List.of(KlEstimator.values()).get(random.nextInt(3)),
        1);
  }

  private static LossSettings with(LossSettings s, Correction correction) {
    return new LossSettings(
        s.objective(),
        s.clip().low(),
        s.clip().high(),
        correction,
        s.kl().coefficient(),
        s.kl().estimator(),
        s.temperature());
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void token_awayFromKinks_derivativeIsTheCentralDifference(long seed) {
    Random random = new Random(seed);
    LossSettings s = randomSettings(random);
    for (int i = 0; i < TOKENS; i++) {
      Token token = Token.random(random);
      if (token.toKink(s) < 2 * STEP) {
        continue;
      }
      double above = token.at(token.logProb + STEP).loss(s).value();
      double below = token.at(token.logProb - STEP).loss(s).value();
      double derivative = token.loss(s).derivative();
      assertThat((above - below) / (2 * STEP))
          .as("%s under %s", token, s)
          .isCloseTo(derivative, within(1e-6 * Math.max(1, Math.abs(derivative))));
    }
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void token_anyLogProbs_k3EstimatesAreNotNegative(long seed) {
    Random random = new Random(seed);
    LossSettings s = new LossSettings(new Grpo(), .2, .2, new None(), .1, KlEstimator.K3, 1);
    for (int i = 0; i < TOKENS; i++) {
      double behaviour = -20 * random.nextDouble();
      // From differences that vanish beside 1 to some that fill the clip range many times over.
      double gap = random.nextGaussian() * Math.pow(10, random.nextInt(18) - 16);
      TokenLoss loss = GoldenBatch.token(s, behaviour + gap, 0, behaviour, behaviour - gap, 1);
      assertThat(loss.behaviourKl()).isNotNegative();
      assertThat(loss.referenceKl()).isNotNegative();
    }
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void token_stepStartEqualsTheSampler_truncatedImportanceChangesNothing(long seed) {
    Random random = new Random(seed);
    LossSettings s = randomSettings(random);
    for (int i = 0; i < TOKENS; i++) {
      Token t = Token.random(random);
      Token same = new Token(t.logProb, t.behaviour, t.behaviour, t.reference, t.advantage);
      assertThat(same.loss(with(s, new TruncatedImportance(1))))
          .isEqualTo(same.loss(with(s, new None())));
    }
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void token_clipping_neverLowersTheLoss(long seed) {
    Random random = new Random(seed);
    LossSettings s = randomSettings(random);
    LossSettings free =
        new LossSettings(
            s.objective(),
            0,
            0,
            s.offPolicy().correction(),
            s.kl().coefficient(),
            s.kl().estimator(),
            1);
    for (int i = 0; i < TOKENS; i++) {
      Token token = Token.random(random);
      assertThat(token.loss(s).value()).isGreaterThanOrEqualTo(token.loss(free).value());
    }
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void token_truncatedImportance_isTheWeightedSurrogateOfTheStepsStart(long seed) {
    Random random = new Random(seed);
    double cap = .5 + 2 * random.nextDouble();
    LossSettings s =
        new LossSettings(new Grpo(), .2, .28, new TruncatedImportance(cap), 0, KlEstimator.K3, 1);
    for (int i = 0; i < TOKENS; i++) {
      Token t = Token.random(random);
      double weight = Math.min(Math.exp(t.start - t.behaviour), cap);
      TokenLoss fromStart =
          new Token(t.logProb, t.start, t.start, t.reference, t.advantage)
              .loss(with(s, new None()));
      assertThat(t.loss(s).value()).isCloseTo(weight * fromStart.value(), within(1e-12));
      assertThat(t.loss(s).derivative()).isCloseTo(weight * fromStart.derivative(), within(1e-12));
    }
  }
}
