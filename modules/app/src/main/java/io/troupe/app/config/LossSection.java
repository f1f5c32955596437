package io.troupe.app.config;

import io.troupe.app.config.binding.Default;
import io.troupe.app.config.binding.Doc;
import io.troupe.app.config.binding.Range;
import io.troupe.core.train.KlEstimator;

/** The loss; {@code troupe plan} prints its formula with these numbers. */
public record LossSection(
    @Doc(
            "Advantage and token mean: `grpo` (Shao et al. 2024), `dr_grpo` (Liu et al. 2025) or"
                + " `dapo` (Yu et al. 2025).")
        @Default("grpo")
        ObjectiveName objective,
    @Doc(value = "Denominator of `dr_grpo`; 0 means rollout.max_tokens.", unit = "tokens")
        @Default("0")
        @Range(min = 0)
        double drGrpoConstant,
    @Doc("The ratio is clipped below 1 - this.") @Default("0.2") @Range(min = 0, max = 1)
        double clipLow,
    @Doc("The ratio is clipped above 1 + this.") @Default("0.28") @Range(min = 0) double clipHigh,
    @Doc(
            "How the loss answers for tokens of older weights: `none`, or `truncated_importance`"
                + " weights; `auto` takes the latter when max_staleness is above 0.")
        @Default("auto")
        CorrectionName correction,
    @Doc("Upper limit of an importance weight.")
        @Default("2.0")
        @Range(min = 0, minExclusive = true)
        double importanceCap,
    @Doc("β, the weight of the KL penalty towards v0; 0 means no penalty and no reference.")
        @Default("0.0")
        @Range(min = 0)
        double klCoefficient,
    @Doc("Estimator of the KL penalty (Schulman 2020).") @Default("k3") KlEstimator klEstimator) {
  /** Objectives by name. */
  public enum ObjectiveName {
    /** Group relative policy optimisation. */
    GRPO,
    /** GRPO without its two normalisers. */
    DR_GRPO,
    /** GRPO with a mean over all tokens of the step. */
    DAPO
  }

  /** Corrections by name. */
  public enum CorrectionName {
    /** Whatever the staleness asks for. */
    AUTO,
    /** The ratio is against the sampler itself. */
    NONE,
    /** Decoupled, with truncated importance weights. */
    TRUNCATED_IMPORTANCE
  }
}
