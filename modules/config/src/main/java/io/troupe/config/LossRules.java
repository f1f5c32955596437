package io.troupe.config;

import io.troupe.config.binding.RuleChecker;
import io.troupe.config.rollout.RolloutSection;
import io.troupe.config.training.DistillationSection;
import io.troupe.config.training.LossSection;
import io.troupe.config.training.LossSection.MaskName;
import io.troupe.config.training.LossSection.ObjectiveName;

/**
 * The rules between the loss and the settings that decide what it is computed from: settings that
 * are each right alone, and together leave a step without a gradient.
 */
final class LossRules {
  /** A sequence's mean ratio falls below this where a usual share of the tokens is cut off. */
  private static final double MEAN_RATIO = 0.9;

  private static final String[] CUTS = {
    "rollout.top_p", "rollout.top_k", "rollout.min_p", "rollout.repetition_penalty"
  };

  private LossRules() {}

  /** States the rules of a configuration. */
  static void state(RunConfig run, RuleChecker rules) {
    LossSection loss = run.loss();
    RolloutSection rollout = run.rollout();
    DistillationSection distillation = run.distillation();
    rules
        .on("loss.objective", CUTS)
        .require(
            () -> loss.objective() != ObjectiveName.GSPO || isWhole(rollout),
            "must not be gspo where the sampler leaves tokens out or penalises them: the ratio of"
                + " every sequence lies below its clip, so bad completions have no gradient",
            "leave top_p, top_k, min_p and repetition_penalty out, or take loss.objective dapo");
    rules
        .on("loss.sequence_mask", CUTS)
        .require(
            () -> !masksByMean(loss) || isWhole(rollout),
            "must not be geometric where the sampler leaves tokens out or penalises them: the mean"
                + " ratio of every sequence lies below the range, so nothing is learnt",
            "set loss.sequence_mask_low to 0.5 or less, or take loss.sequence_mask outlier");
    rules
        .on("distillation.policy_coefficient", "distillation.divergence")
        .require(
            () ->
                distillation.policyCoefficient() > 0
                    || distillation.divergence() != DistillationSection.Divergence.NONE,
            "must be above 0 without a distillation: rollouts would teach nothing",
            "raise it, or name a distillation.divergence");
  }

  private static boolean masksByMean(LossSection loss) {
    return loss.sequenceMask() == MaskName.GEOMETRIC
        && (loss.sequenceMaskLow() == 0 || loss.sequenceMaskLow() > MEAN_RATIO);
  }

  /** Whether tokens are sampled by the policy's whole distribution. */
  private static boolean isWhole(RolloutSection rollout) {
    return rollout.topP() == 1
        && rollout.topK() == 0
        && rollout.minP() == 0
        && rollout.repetitionPenalty() == 1;
  }
}
