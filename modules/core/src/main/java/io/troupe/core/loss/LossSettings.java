package io.troupe.core.loss;

import static io.troupe.core.Require.require;

import io.troupe.core.advantage.Baseline;
import java.util.Locale;

/**
 * A loss, fully determined: {@link ScalarLoss} is what it means, {@link LossFormula} prints it.
 *
 * @param objective surrogate and denominator
 * @param baseline what an advantage compares a reward to
 * @param clipLow the surrogate's ratio is cut below 1 - clipLow, in [0, 1]
 * @param clipHigh the surrogate's ratio is cut above 1 + clipHigh, finite, 0 or greater; both 0
 *     means no clipping, and one alone 0 a range that ends at 1
 * @param correction what the ratio is taken to, and the weight of tokens of other weights
 * @param sequenceMask which sequences are too far from their sampler
 * @param klCoefficient beta of the penalty towards the reference policy, finite, 0 or greater; 0
 *     means that it needs no reference
 * @param klEstimator which estimate the penalty uses
 * @param klPlace whether the penalty is in the loss or in the reward
 * @param distillation what is learnt from a teacher
 * @param policyCoefficient multiplies surrogate and penalty, not distillation; finite, 0 or greater
 * @param supervisedCoefficient multiplies the loss of the examples that a step imitates beside its
 *     rollouts; finite, 0 or greater; 0 means that a step has none
 * @param overlong what becomes of completions that come near their token limit
 * @param temperature logits are divided by it, in the trainer as in the sampler; finite, greater
 *     than 0
 */
public record LossSettings(
    Objective objective,
    Baseline baseline,
    double clipLow,
    double clipHigh,
    Correction correction,
    SequenceMask sequenceMask,
    double klCoefficient,
    KlEstimator klEstimator,
    KlPlacement klPlace,
    Distillation distillation,
    double policyCoefficient,
    double supervisedCoefficient,
    Overlong overlong,
    double temperature) {
  public LossSettings {
    require(clipLow >= 0 && clipLow <= 1, "clip_low lies in [0, 1], not %s", clipLow);
    require(
        clipHigh >= 0 && Double.isFinite(clipHigh),
        "clip_high is a finite number, 0 or greater, not %s",
        clipHigh);
    requireCoefficient("KL", klCoefficient);
    requireCoefficient("policy", policyCoefficient);
    requireCoefficient("supervised", supervisedCoefficient);
    require(
        temperature > 0 && Double.isFinite(temperature),
        "the temperature of a loss is a finite number greater than 0, not %s",
        temperature);
    require(
        !objective.correctsItself() || correction instanceof Correction.None,
        "%s takes its ratio to the sampler itself and goes with no correction, not with %s",
        objective.getClass().getSimpleName().toUpperCase(Locale.ROOT),
        correction);
  }

  /** The loss of a paper: its own advantage, a penalty in the loss, no teacher, nothing masked. */
  public LossSettings(
      Objective objective,
      double clipLow,
      double clipHigh,
      Correction correction,
      double klCoefficient,
      KlEstimator klEstimator,
      double temperature) {
    this(
        objective,
        objective.baseline(),
        clipLow,
        clipHigh,
        correction,
        new SequenceMask.None(),
        klCoefficient,
        klEstimator,
        KlPlacement.LOSS,
        new Distillation.None(),
        1,
        0,
        Overlong.KEPT,
        temperature);
  }

  private static void requireCoefficient(String what, double value) {
    require(
        value >= 0 && Double.isFinite(value),
        "the %s coefficient is a finite number, 0 or greater, not %s",
        what,
        value);
  }

  /** Whether the surrogate is clipped at all. */
  public boolean clips() {
    return clipLow > 0 || clipHigh > 0;
  }

  /** Whether the loss has a penalty, and so needs the reference's log-probabilities. */
  public boolean penalisesLoss() {
    return klCoefficient > 0 && klPlace == KlPlacement.LOSS;
  }

  /** Whether rewards have a penalty. */
  public boolean penalisesReward() {
    return klCoefficient > 0 && klPlace == KlPlacement.REWARD;
  }

  /** Whether a step asks a teacher. */
  public boolean distils() {
    return distillation.topK() > 0;
  }

  /** Whether a teacher is all that a step's rollouts learn from. */
  public boolean distilsAlone() {
    return distils() && policyCoefficient == 0;
  }

  /**
   * Whether a step reads the reference policy.
   *
   * @param teacher whether there is a teacher beside it; without one it teaches
   */
  public boolean readsReference(boolean teacher) {
    return klCoefficient > 0 || (distils() && !teacher);
  }

  /** The same with another baseline. */
  public LossSettings with(Baseline other) {
    return new LossSettings(
        objective,
        other,
        clipLow,
        clipHigh,
        correction,
        sequenceMask,
        klCoefficient,
        klEstimator,
        klPlace,
        distillation,
        policyCoefficient,
        supervisedCoefficient,
        overlong,
        temperature);
  }

  /** The same with another sequence mask. */
  public LossSettings with(SequenceMask other) {
    return new LossSettings(
        objective,
        baseline,
        clipLow,
        clipHigh,
        correction,
        other,
        klCoefficient,
        klEstimator,
        klPlace,
        distillation,
        policyCoefficient,
        supervisedCoefficient,
        overlong,
        temperature);
  }

  /** The same with the penalty in another place. */
  public LossSettings with(KlPlacement other) {
    return new LossSettings(
        objective,
        baseline,
        clipLow,
        clipHigh,
        correction,
        sequenceMask,
        klCoefficient,
        klEstimator,
        other,
        distillation,
        policyCoefficient,
        supervisedCoefficient,
        overlong,
        temperature);
  }

  /** The same with another distillation, and the policy gradient's share beside it. */
  public LossSettings with(Distillation other, double policyShare) {
    return new LossSettings(
        objective,
        baseline,
        clipLow,
        clipHigh,
        correction,
        sequenceMask,
        klCoefficient,
        klEstimator,
        klPlace,
        other,
        policyShare,
        supervisedCoefficient,
        overlong,
        temperature);
  }

  /** The same with another rule for long completions. */
  public LossSettings with(Overlong other) {
    return new LossSettings(
        objective,
        baseline,
        clipLow,
        clipHigh,
        correction,
        sequenceMask,
        klCoefficient,
        klEstimator,
        klPlace,
        distillation,
        policyCoefficient,
        supervisedCoefficient,
        other,
        temperature);
  }

  /** The same with examples to imitate beside the rollouts. */
  public LossSettings withSupervised(double coefficient) {
    return new LossSettings(
        objective,
        baseline,
        clipLow,
        clipHigh,
        correction,
        sequenceMask,
        klCoefficient,
        klEstimator,
        klPlace,
        distillation,
        policyCoefficient,
        coefficient,
        overlong,
        temperature);
  }
}
