package io.troupe.core.train;

import static io.troupe.core.Require.require;

/**
 * A loss, fully determined: {@link ScalarLoss} is what it means, {@link LossFormula} prints it.
 *
 * @param objective advantage and denominator
 * @param clipLow the surrogate's ratio is cut below 1 - clipLow, in [0, 1]
 * @param clipHigh the surrogate's ratio is cut above 1 + clipHigh, finite, 0 or greater; both 0
 *     means no clipping, and one alone 0 a range that ends at 1
 * @param correction what the ratio is taken to, and the weight of tokens of other weights
 * @param klCoefficient beta of the penalty towards the reference policy (v0), finite, 0 or greater;
 *     0 means that no reference is computed
 * @param klEstimator which estimate the penalty uses
 * @param temperature logits are divided by it, in the trainer as in the sampler; finite, greater
 *     than 0
 */
public record LossSettings(
    Objective objective,
    double clipLow,
    double clipHigh,
    Correction correction,
    double klCoefficient,
    KlEstimator klEstimator,
    double temperature) {
  public LossSettings {
    require(clipLow >= 0 && clipLow <= 1, "clip_low lies in [0, 1], not %s", clipLow);
    require(
        clipHigh >= 0 && Double.isFinite(clipHigh),
        "clip_high is a finite number, 0 or greater, not %s",
        clipHigh);
    require(
        klCoefficient >= 0 && Double.isFinite(klCoefficient),
        "the KL coefficient is a finite number, 0 or greater, not %s",
        klCoefficient);
    require(
        temperature > 0 && Double.isFinite(temperature),
        "the temperature of a loss is a finite number greater than 0, not %s",
        temperature);
  }

  /** Whether the surrogate is clipped at all. */
  public boolean clips() {
    return clipLow > 0 || clipHigh > 0;
  }
}
