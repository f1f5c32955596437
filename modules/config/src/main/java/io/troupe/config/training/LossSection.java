package io.troupe.config.training;

import io.troupe.config.binding.RuleChecker;
import io.troupe.config.binding.Validated;
import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Range;
import io.troupe.config.schema.RelativeToFile;
import io.troupe.core.loss.KlEstimator;
import io.troupe.core.loss.KlPlacement;
import io.troupe.core.loss.LossFunction;
import io.troupe.core.loss.Objective;
import java.nio.file.Path;
import java.util.List;

/** The loss; {@code troupe plan} prints its formula with these numbers. */
public record LossSection(
    @Doc(
            "Surrogate and token mean: `grpo` (Shao et al. 2024), `dr_grpo` (Liu et al. 2025),"
                + " `dapo` (Yu et al. 2025), `gspo` (Zheng et al. 2025), `cispo` (MiniMax 2025),"
                + " `sapo` (Gao et al. 2025), `gmpo` (Zhao et al. 2025), `dppo` (Qi et al. 2026) or"
                + " `own`, the class `objective_class` of `jar`.")
        @Default("grpo")
        ObjectiveName objective,
    @Doc(
            "What an advantage compares a reward to: the group's mean, `standardised` by its"
                + " deviation (a mean over G; over G - 1 with `standardised_unbiased`, as TRL and"
                + " verl have it) or only `centred`, or `leave_one_out`, the mean of the others;"
                + " `mean_scaled` (MaxRL), `length_weighted` (OPO), `step_standardised`"
                + " (REINFORCE++), `group_centred_step_scaled` (REINFORCE++-baseline) and"
                + " `parts_standardised` (GDPO) are in"
                + " docs/algorithms.md; `auto` takes the objective's own, and `own` the class"
                + " `baseline_class` of `jar`.")
        @Default("auto")
        BaselineName baseline,
    @Doc("A jar with a loss or advantages of your own; docs/algorithms.md.") @RelativeToFile
        List<Path> jar,
    @Doc(
            "Class of the jar that implements `io.troupe.core.loss.LossFunction`, for `objective:"
                + " own`.")
        @Default("")
        String objectiveClass,
    @Doc(
            "Class of the jar that implements `io.troupe.core.advantage.AdvantageFunction`, for"
                + " `baseline: own`.")
        @Default("")
        String baselineClass,
    @Doc(value = "Denominator of `dr_grpo`; 0 means rollout.max_tokens.", unit = "tokens")
        @Default("0")
        @Range(min = 0)
        double drGrpoConstant,
    @Doc(
            "The ratio is clipped below 1 - this; -1 means the objective's own: 0.2, 3e-4 for"
                + " `gspo`, 1 for `cispo`, 0.4 nats for `gmpo`, 0.15 of p - q for `dppo`.")
        @Default("-1")
        @Range(min = -1, max = 1)
        double clipLow,
    @Doc(
            "The ratio is clipped above 1 + this; -1 means the objective's own: 0.28, 4e-4 for"
                + " `gspo`, 4 for `cispo`, 0.4 nats for `gmpo`, 0.15 of p - q for `dppo`.")
        @Default("-1")
        @Range(min = -1)
        double clipHigh,
    @Doc(
            "Dual clip: where the advantage is negative, the ratio counts as this at most, 3 in the"
                + " paper; 0 means without. It goes with `grpo`, `dr_grpo`, `dapo` and `gspo`.")
        @Default("0")
        @Range(min = 0)
        double clipDual,
    @Doc("Temperature of the gate of `sapo` where the advantage is positive.")
        @Default("1.0")
        @Range(min = 0, minExclusive = true)
        double sapoPositive,
    @Doc("Temperature of the gate of `sapo` where the advantage is negative.")
        @Default("1.05")
        @Range(min = 0, minExclusive = true)
        double sapoNegative,
    @Doc(
            "How the loss answers for tokens of older weights: `none`, `truncated_importance`"
                + " weights, `icepop`, `decoupled` (AReaL's, weights above the cap are 0) or"
                + " `decoupled_truncated` (they are the cap); `auto` takes `truncated_importance`"
                + " when max_staleness is above 0, but `none` with `gspo`, `cispo`, `sapo`, `gmpo`"
                + " and `dppo`, whose ratio is to the sampler itself.")
        @Default("auto")
        CorrectionName correction,
    @Doc(
            "Cap of an importance weight; 0 means 2, or 5 with `decoupled` and"
                + " `decoupled_truncated`.")
        @Default("0")
        @Range(min = 0)
        double importanceCap,
    @Doc("`icepop` gives no weight to a token whose p'/q is below this.")
        @Default("0.5")
        @Range(min = 0, max = 1)
        double icepopLow,
    @Doc("`icepop` gives no weight to a token whose p'/q is above this.")
        @Default("5")
        @Range(min = 1)
        double icepopHigh,
    @Doc(
            "Which sequences are too far from their sampler to be learnt from: `none`, those whose"
                + " `geometric` mean of p'/q is out of a range, or those with an `outlier` out of"
                + " it.")
        @Default("none")
        MaskName sequenceMask,
    @Doc("Low end of the mask's range; 0 means 0.99 for `geometric`, 1e-4 for `outlier`.")
        @Default("0")
        @Range(min = 0, max = 1)
        double sequenceMaskLow,
    @Doc("High end of the mask's range; 0 means 1.01 for `geometric`, 100 for `outlier`.")
        @Default("0")
        @Range(min = 0)
        double sequenceMaskHigh,
    @Doc(
            "Whether completions that the token limit cut off have no loss weight (overlong"
                + " filtering); their rewards are in their group's baseline all the same.")
        @Default("false")
        boolean maskTruncated,
    @Doc(
            value =
                "Soft overlong punishment: over the last tokens before its limit a completion's"
                    + " reward falls, linearly; 0 punishes nothing.",
            unit = "tokens")
        @Default("0")
        @Range(min = 0)
        int overlongBuffer,
    @Doc("What a completion of as many tokens as its limit loses of its reward by that.")
        @Default("1.0")
        @Range(min = 0)
        double overlongPenalty,
    @Doc(
            "α, the weight of the policy's entropy at each trained token, which the loss rewards;"
                + " 0 means no bonus.")
        @Default("0.0")
        @Range(min = 0)
        double entropyCoefficient,
    @Doc("β, the weight of the KL penalty towards the reference; 0 means no penalty.")
        @Default("0.0")
        @Range(min = 0)
        double klCoefficient,
    @Doc("Estimator of the KL penalty (Schulman 2020).") @Default("k3") KlEstimator klEstimator,
    @Doc("Where the penalty acts: in each token's `loss`, or in the completion's `reward`.")
        @Default("loss")
        KlPlacement klIn,
    @Doc(
            value =
                "The reference becomes the present policy before every step that follows a multiple"
                    + " of this many; 0 means it stays v0.",
            unit = "steps")
        @Default("0")
        @Range(min = 0)
        int referenceRefreshEvery)
    implements Validated {
  /** Widest clip of a sequence's ratio that is not meant for a token's. */
  private static final double WIDEST_SEQUENCE_CLIP = 0.1;

  /** Objectives by name. */
  @SuppressWarnings("ImmutableEnumChecker") // records of numbers
  public enum ObjectiveName {
    /** Group relative policy optimisation. */
    GRPO(new Objective.Grpo()),
    /** GRPO without its two normalisers. */
    DR_GRPO(new Objective.DrGrpo(1)),
    /** GRPO with a mean over all tokens of the step. */
    DAPO(new Objective.Dapo()),
    /** One ratio for a sequence. */
    GSPO(new Objective.Gspo()),
    /** The clipped ratio is a weight. */
    CISPO(new Objective.Cispo()),
    /** A soft gate in place of the clip. */
    SAPO(new Objective.Sapo(1, 1)),
    /** The geometric mean of a sequence's clipped ratios. */
    GMPO(new Objective.Gmpo()),
    /** Tokens outside a trust region of probabilities have no gradient. */
    DPPO(new Objective.Dppo()),
    /** A class of the user's. */
    OWN(new Objective.Own("", (_, _) -> new LossFunction.Surrogates(new double[0], new double[0])));

    private final Objective kind;

    /**
     * Names a kind.
     *
     * @param kind one of it, whose settings do not count
     */
    ObjectiveName(Objective kind) {
      this.kind = kind;
    }
  }

  /** Baselines by name. */
  public enum BaselineName {
    /** The objective's own. */
    AUTO,
    /** The group's mean, in its deviations. */
    STANDARDISED,
    /** The group's mean, in its unbiased deviations. */
    STANDARDISED_UNBIASED,
    /** The group's mean. */
    CENTRED,
    /** The mean of the others. */
    LEAVE_ONE_OUT,
    /** The group's mean, in units of that mean. */
    MEAN_SCALED,
    /** The group's mean, weighted by length. */
    LENGTH_WEIGHTED,
    /** The step's mean, in its deviations. */
    STEP_STANDARDISED,
    /** The group's mean, in deviations of the step. */
    GROUP_CENTRED_STEP_SCALED,
    /** The group's mean of each part of the reward apart. */
    PARTS_STANDARDISED,
    /** A class of the user's. */
    OWN
  }

  /** Corrections by name. */
  public enum CorrectionName {
    /** Whatever the staleness asks for. */
    AUTO,
    /** The ratio is against the sampler itself. */
    NONE,
    /** To the step's start, with truncated importance weights. */
    TRUNCATED_IMPORTANCE,
    /** To the step's start, without the tokens that disagree. */
    ICEPOP,
    /** To the version before the present one; weights above the cap are 0. */
    DECOUPLED,
    /** To the version before the present one; weights above the cap are the cap. */
    DECOUPLED_TRUNCATED
  }

  /** Sequence masks by name. */
  public enum MaskName {
    /** No sequence is masked. */
    NONE,
    /** Masks a sequence by the mean of its log-ratios. */
    GEOMETRIC,
    /** Masks a sequence by its worst log-ratio. */
    OUTLIER
  }

  @Override
  public void check(RuleChecker rules) {
    ownClasses(rules);
    clip(rules, "clip_low", clipLow);
    clip(rules, "clip_high", clipHigh);
    correction(rules);
  }

  private void ownClasses(RuleChecker rules) {
    rules
        .on("objective_class", "objective")
        .require(
            () -> (objective == ObjectiveName.OWN) != objectiveClass.isEmpty(),
            "must name a class with objective own, and only then",
            "set both or neither");
    rules
        .on("baseline_class", "baseline")
        .require(
            () -> (baseline == BaselineName.OWN) != baselineClass.isEmpty(),
            "must name a class with baseline own, and only then",
            "set both or neither");
    boolean own = !objectiveClass.isEmpty() || !baselineClass.isEmpty();
    rules
        .on("jar", "objective_class", "baseline_class")
        .require(
            () -> jar.size() == (own ? 1 : 0),
            "must be the one jar of objective_class or baseline_class, and is for these alone",
            "name it, or leave it out");
  }

  private void clip(RuleChecker rules, String end, double value) {
    rules
        .on(end)
        .require(
            () -> value == -1 || value >= 0,
            "must be -1, the objective's own, or 0 or greater",
            "set it to -1 or leave it out");
    rules
        .on(end, "objective")
        .require(
            () -> objective != ObjectiveName.SAPO || value <= 0,
            "must be left out with objective sapo, which gates softly and clips nothing",
            "leave it out; loss.sapo_positive and loss.sapo_negative say how soft");
    rules
        .on(end, "objective")
        .require(
            () -> objective != ObjectiveName.OWN || value <= 0,
            "must be left out with objective own, which clips in its own way",
            "leave it out");
    rules
        .on(end, "objective")
        .require(
            () -> objective != ObjectiveName.GSPO || value <= WIDEST_SEQUENCE_CLIP,
            "must not exceed 0.1 with objective gspo: it clips a sequence's mean ratio, not a"
                + " token's",
            "leave it out, which takes the paper's 3e-4 and 4e-4");
  }

  private void correction(RuleChecker rules) {
    rules
        .on("clip_dual")
        .require(
            () -> clipDual == 0 || clipDual > 1,
            "must be 0, which means without, or greater than 1",
            "the paper takes 3");
    rules
        .on("clip_dual", "objective")
        .require(
            () -> clipDual == 0 || objective.kind.takesDualClip(),
            "must be left out with objective cispo, sapo, gmpo, dppo or own, which bound a token's"
                + " weight in their own way",
            "leave it out");
    rules
        .on("correction", "objective")
        .require(
            () ->
                correction == CorrectionName.AUTO
                    || correction == CorrectionName.NONE
                    || !objective.kind.correctsItself(),
            "must be auto or none with objective gspo, cispo, sapo, gmpo, dppo or own, whose ratio"
                + " is to the sampler itself",
            "leave it out; loss.sequence_mask goes with every objective");
    rules
        .on("sequence_mask_high")
        .require(
            () -> sequenceMaskHigh == 0 || sequenceMaskHigh >= 1,
            "must be 0, the mask's own, or 1 or greater",
            "raise it, or leave it out");
  }
}
