package io.troupe.core.loss;

import static io.troupe.core.loss.GoldenBatch.settings;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.troupe.core.loss.Correction.None;
import io.troupe.core.loss.Correction.TruncatedImportance;
import io.troupe.core.loss.Objective.Dapo;
import io.troupe.core.loss.Objective.Grpo;
import io.troupe.core.loss.ScalarLoss.TokenLoss;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

final class ScalarLossTest {
  private static final Offset<Double> EXACT = within(1e-12);
  private static final Offset<Double> SIX_DIGITS = within(5e-7);
  private static final double NOT_READ = Double.NaN;
  private static final double ROOT_E = Math.exp(.5);

  private static TokenLoss golden(int i, int t) {
    return GoldenBatch.token(
        settings(new Grpo(), .2, .2, new None(), .1),
        GoldenBatch.LOG_PROBS.get(i)[t],
        NOT_READ,
        GoldenBatch.BEHAVIOUR[i][t],
        GoldenBatch.REFERENCE.get(i)[t],
        GoldenBatch.ADVANTAGES[i]);
  }

  /** A token whose ratio to the sampler is {@code ratio}, clipped to [0.8, 1.28]. */
  private static TokenLoss clipped(double ratio, double advantage) {
    LossSettings s = settings(new Dapo(), .2, .28, new None(), 0);
    return GoldenBatch.token(s, Math.log(ratio) - 1, NOT_READ, -1, NOT_READ, advantage);
  }

  private static TokenLoss penalty(KlEstimator estimator, double logProb, double reference) {
    LossSettings s = new LossSettings(new Grpo(), .2, .2, new None(), .5, estimator, 1);
    return GoldenBatch.token(s, logProb, NOT_READ, logProb, reference, 0);
  }

  private static TokenLoss truncated(double cap, double logProb) {
    LossSettings s = settings(new Dapo(), .2, .28, new TruncatedImportance(cap), 0);
    return GoldenBatch.token(s, logProb, -1, -1.5, NOT_READ, 1);
  }

  @Test
  void token_goldenVector_givesTheLossOfEachToken() {
    assertThat(golden(0, 0).value()).isCloseTo(-1.105171, SIX_DIGITS);
    assertThat(golden(0, 1).value()).isCloseTo(-0.604390, SIX_DIGITS);
    assertThat(golden(0, 2).value()).isCloseTo(-0.992968, SIX_DIGITS);
    assertThat(golden(1, 0).value()).isCloseTo(2.227414, SIX_DIGITS);
    assertThat(golden(1, 1).value()).isCloseTo(1.0, SIX_DIGITS);
  }

  @Test
  void token_goldenVector_givesTheReferenceKlOfEachToken() {
    assertThat(golden(0, 0).referenceKl()).isZero();
    assertThat(golden(0, 1).referenceKl()).isCloseTo(0.021403, SIX_DIGITS);
    assertThat(golden(0, 2).referenceKl()).isCloseTo(0.070320, SIX_DIGITS);
    assertThat(golden(1, 0).referenceKl()).isCloseTo(0.018731, SIX_DIGITS);
    assertThat(golden(1, 1).referenceKl()).isZero();
  }

  @Test
  void token_goldenVectorWithoutClipping_isMinusTheRatioTimesTheAdvantage() {
    LossSettings s = settings(new Grpo(), 0, 0, new None(), 0);
    double[][] ratios = {{1.105171, 0.606531, 1}, {2.225541, 1}};
    for (int i = 0; i < ratios.length; i++) {
      for (int t = 0; t < ratios[i].length; t++) {
        double a = GoldenBatch.ADVANTAGES[i];
        TokenLoss token =
            GoldenBatch.token(
                s,
                GoldenBatch.LOG_PROBS.get(i)[t],
                NOT_READ,
                GoldenBatch.BEHAVIOUR[i][t],
                NOT_READ,
                a);
        assertThat(token.value()).isCloseTo(-ratios[i][t] * a, SIX_DIGITS);
        assertThat(token.derivative()).isEqualTo(token.value());
        assertThat(token.clippedLow()).isFalse();
        assertThat(token.clippedHigh()).isFalse();
      }
    }
  }

  @Test
  void token_ratioAboveTheRange_stopsLearningOnlyWhenTheAdvantageIsPositive() {
    TokenLoss good = clipped(1.5, 1);
    assertThat(good.value()).isCloseTo(-1.28, EXACT);
    assertThat(good.derivative()).isZero();
    TokenLoss bad = clipped(1.5, -1);
    assertThat(bad.value()).isCloseTo(1.5, EXACT);
    assertThat(bad.derivative()).isCloseTo(1.5, EXACT);
    assertThat(good.clippedHigh()).isTrue();
    assertThat(bad.clippedHigh()).isTrue();
    assertThat(good.clippedLow()).isFalse();
    assertThat(bad.clippedLow()).isFalse();
  }

  @Test
  void token_ratioBelowTheRange_stopsLearningOnlyWhenTheAdvantageIsNegative() {
    TokenLoss good = clipped(.5, 1);
    assertThat(good.value()).isCloseTo(-.5, EXACT);
    assertThat(good.derivative()).isCloseTo(-.5, EXACT);
    TokenLoss bad = clipped(.5, -1);
    assertThat(bad.value()).isCloseTo(.8, EXACT);
    assertThat(bad.derivative()).isZero();
    assertThat(good.clippedLow()).isTrue();
    assertThat(bad.clippedLow()).isTrue();
    assertThat(good.clippedHigh()).isFalse();
    assertThat(bad.clippedHigh()).isFalse();
  }

  @Test
  void token_dualClip_boundsTheLossOfUnlikedTokensWhoseRatioIsGreat() {
    LossSettings free = settings(new Grpo(), .2, .28, new None(), 0);
    LossSettings dual =
        new LossSettings(
            free.objective(),
            free.baseline(),
            new LossSettings.Clip(.2, .28, 3),
            free.offPolicy(),
            free.kl(),
            free.shares(),
            free.overlong(),
            free.temperature());
    TokenLoss beyond = GoldenBatch.token(dual, Math.log(.8), NOT_READ, Math.log(.2), NOT_READ, -2);
    assertThat(beyond.value()).isCloseTo(6, EXACT);
    assertThat(beyond.derivative()).isZero();
    for (double ratio : new double[] {.5, 1, 1.27, 2.9}) {
      for (double advantage : new double[] {-2, 2}) {
        double p = Math.log(ratio / 10);
        TokenLoss within = GoldenBatch.token(dual, p, NOT_READ, Math.log(.1), NOT_READ, advantage);
        assertThat(within)
            .isEqualTo(GoldenBatch.token(free, p, NOT_READ, Math.log(.1), NOT_READ, advantage));
      }
    }
    TokenLoss liked = GoldenBatch.token(dual, Math.log(.8), NOT_READ, Math.log(.2), NOT_READ, 2);
    assertThat(liked.value()).isCloseTo(-2.56, EXACT);
  }

  @Test
  void token_ratioAtAnEndOfTheRange_learnsAndIsNotCountedAsClipped() {
    LossSettings noRise = settings(new Grpo(), .2, 0, new None(), 0);
    TokenLoss rising = GoldenBatch.token(noRise, -1, NOT_READ, -1, NOT_READ, 2);
    assertThat(rising.derivative()).isEqualTo(-2);
    assertThat(rising.clippedHigh()).isFalse();
    LossSettings noFall = settings(new Grpo(), 0, .2, new None(), 0);
    TokenLoss falling = GoldenBatch.token(noFall, -1, NOT_READ, -1, NOT_READ, -2);
    assertThat(falling.derivative()).isEqualTo(2);
    assertThat(falling.clippedLow()).isFalse();
  }

  /** By hand, with d = 1: the policy gives this token less than the reference does. */
  @Test
  void token_policyBelowTheReference_penaltyIsThatOfPolicyAgainstReference() {
    TokenLoss k1 = penalty(KlEstimator.K1, -2, -1);
    assertThat(k1.referenceKl()).isEqualTo(-1);
    assertThat(k1.value()).isEqualTo(-.5);
    assertThat(k1.derivative()).isEqualTo(.5);
    TokenLoss k2 = penalty(KlEstimator.K2, -2, -1);
    assertThat(k2.referenceKl()).isEqualTo(.5);
    assertThat(k2.value()).isEqualTo(.25);
    assertThat(k2.derivative()).isEqualTo(-.5);
    TokenLoss k3 = penalty(KlEstimator.K3, -2, -1);
    assertThat(k3.referenceKl()).isCloseTo(0.718281828459045, EXACT); // e - 2, not 1/e
    assertThat(k3.value()).isCloseTo(0.3591409142295225, EXACT);
    assertThat(k3.derivative()).isCloseTo(-0.8591409142295225, EXACT); // -(e - 1)/2: towards it
  }

  /** By hand, with d = -1: the policy gives this token more than the reference does. */
  @Test
  void token_policyAboveTheReference_penaltyPullsItDown() {
    TokenLoss k2 = penalty(KlEstimator.K2, -1, -2);
    assertThat(k2.referenceKl()).isEqualTo(.5);
    assertThat(k2.derivative()).isEqualTo(.5);
    TokenLoss k3 = penalty(KlEstimator.K3, -1, -2);
    assertThat(k3.referenceKl()).isCloseTo(0.36787944117144233, EXACT); // 1/e
    assertThat(k3.derivative()).isCloseTo(0.31606027941427883, EXACT); // (1 - 1/e)/2
  }

  /** By hand: with log(p/q) = 1, k3 of KL(sampler || trainer) is e - 1 - 1. */
  @Test
  void token_trainerAboveTheSampler_behaviourKlIsThatOfSamplerAgainstTrainer() {
    assertThat(clipped(Math.E, 1).behaviourKl()).isCloseTo(Math.E - 2, EXACT);
    assertThat(clipped(1 / Math.E, 1).behaviourKl()).isCloseTo(1 / Math.E, EXACT);
  }

  @Test
  void token_truncatedImportance_multipliesByTheWeightUpToTheCap() {
    TokenLoss below = truncated(2, -1);
    assertThat(below.value()).isCloseTo(-ROOT_E, EXACT);
    assertThat(below.derivative()).isCloseTo(-ROOT_E, EXACT);
    TokenLoss capped = truncated(1.25, -1);
    assertThat(capped.value()).isCloseTo(-1.25, EXACT);
    assertThat(capped.derivative()).isCloseTo(-1.25, EXACT);
  }

  @Test
  void token_truncatedImportance_clipsTheRatioToTheStepsStart() {
    TokenLoss moved = truncated(1.25, -.5);
    assertThat(moved.value()).isCloseTo(-1.25 * 1.28, EXACT);
    assertThat(moved.derivative()).isZero();
  }

  @Test
  void token_truncatedImportance_countsTheRatioToTheSamplerAsClipped() {
    TokenLoss unmoved = truncated(2, -1);
    assertThat(unmoved.clippedHigh()).isTrue();
    assertThat(unmoved.derivative()).isNotZero();
  }

  @Test
  void token_truncatedImportance_leavesThePenaltyUnweighted() {
    LossSettings s = settings(new Grpo(), .2, .2, new TruncatedImportance(2), .5);
    TokenLoss token = GoldenBatch.token(s, -2, -2, -2.5, -1, 0);
    assertThat(token.value()).isCloseTo(.5 * (Math.E - 2), EXACT);
    assertThat(token.derivative()).isCloseTo(-.5 * (Math.E - 1), EXACT);
  }

  @Test
  void token_withoutReference_hasNoReferenceKl() {
    assertThat(clipped(1.1, 1).referenceKl()).isZero();
  }

  @Test
  void token_numberIsNotFinite_isRefusedByName() {
    LossSettings plain = settings(new Grpo(), .2, .2, new None(), 0);
    LossSettings all = settings(new Grpo(), .2, .2, new TruncatedImportance(2), .1);
    assertThatThrownBy(() -> GoldenBatch.token(plain, Double.NaN, 0, 0, 0, 0))
        .hasMessage("a token's log-probability is a finite number, not NaN");
    assertThatThrownBy(() -> GoldenBatch.token(plain, 0, 0, Double.NEGATIVE_INFINITY, 0, 0))
        .hasMessage("a token's behaviour log-probability is a finite number, not -Infinity");
    assertThatThrownBy(() -> GoldenBatch.token(plain, 0, 0, 0, 0, Double.NaN))
        .hasMessage("a token's advantage is a finite number, not NaN");
    assertThatThrownBy(() -> GoldenBatch.token(all, 0, Double.NaN, 0, 0, 0))
        .hasMessage("a token's log-probability at the step's start is a finite number, not NaN");
    assertThatThrownBy(() -> GoldenBatch.token(all, 0, 0, 0, Double.NaN, 0))
        .hasMessage("a token's reference log-probability is a finite number, not NaN");
  }
}
