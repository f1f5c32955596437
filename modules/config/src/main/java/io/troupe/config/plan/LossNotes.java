package io.troupe.config.plan;

import io.troupe.config.RunConfig;
import io.troupe.config.binding.ResolvedConfig;
import io.troupe.config.rollout.VerifierSection;
import io.troupe.config.training.DistillationSection.Divergence;
import io.troupe.config.training.LossSection;
import io.troupe.config.training.LossSection.CorrectionName;
import io.troupe.config.training.LossSection.ObjectiveName;
import io.troupe.core.advantage.Baseline;
import io.troupe.core.loss.Correction;
import io.troupe.core.loss.KlEstimator;
import io.troupe.core.loss.LossSettings;
import java.util.ArrayList;
import java.util.List;

/** Notes on settings of the loss that are allowed: those without effect, and surprising ones. */
final class LossNotes {
  /** Keys that act on nothing but the policy gradient and its penalty. */
  private static final List<String> POLICY_GRADIENT =
      List.of(
          "baseline",
          "clip_low",
          "clip_high",
          "clip_dual",
          "sapo_positive",
          "sapo_negative",
          "correction",
          "importance_cap",
          "icepop_low",
          "icepop_high",
          "sequence_mask",
          "sequence_mask_low",
          "sequence_mask_high",
          "overlong_buffer",
          "overlong_penalty",
          "kl_coefficient",
          "kl_estimator",
          "kl_in");

  private final ResolvedConfig<RunConfig> resolved;
  private final RunConfig config;
  private final LossSettings loss;
  private final List<String> notes = new ArrayList<>();

  private LossNotes(ResolvedConfig<RunConfig> resolved) {
    this.resolved = resolved;
    this.config = resolved.config();
    this.loss = config.lossSettings();
  }

  static List<String> of(ResolvedConfig<RunConfig> resolved) {
    LossNotes notes = new LossNotes(resolved);
    notes.ratios();
    notes.advantages();
    notes.penalties();
    notes.distillation();
    notes.idle();
    return List.copyOf(notes.notes);
  }

  private void ratios() {
    note(
        config.sampling().truncates() || config.sampling().penalises(),
        "rollout.top_p, top_k, min_p or repetition_penalty shape what is sampled, and the trainer"
            + " has none: its probability of a token is less than the recorded one, by the share"
            + " that is left out; where that share exceeds what a clip, a correction or a mask"
            + " allows, the token of a bad completion has no gradient");
    note(
        config.training().maxStaleness() > 0
            && config.loss().correction() == CorrectionName.NONE
            && !loss.objective().correctsItself(),
        "loss.correction is none: tokens of older weights are trained on with the plain ratio");
    note(!loss.clip().active(), "loss.clip_low and loss.clip_high are both 0: nothing is clipped");
    Correction correction = loss.offPolicy().correction();
    note(
        correction instanceof Correction.Decoupled && config.training().maxStaleness() <= 1,
        "loss.correction is decoupled and no token is more than one version old: the proximal"
            + " policy is the sampler, which is loss.correction: none");
    boolean toStepStart =
        correction instanceof Correction.TruncatedImportance
            || correction instanceof Correction.IcePop;
    for (String key : List.of("clip_low", "clip_high", "clip_dual")) {
      noteWithoutEffect(
          key,
          toStepStart,
          "loss.correction (%s) takes the ratio to the step's start, which is 1 in a step of one"
                  .formatted(
                      correction instanceof Correction.IcePop ? "icepop" : "truncated_importance")
              + " update; take loss.correction none to clip the ratio to the sampler");
    }
    boolean capped =
        correction instanceof Correction.TruncatedImportance
            || correction instanceof Correction.Decoupled;
    noteWithoutEffect("importance_cap", !capped, "the loss has no importance weights");
    for (String key : List.of("icepop_low", "icepop_high")) {
      noteWithoutEffect(
          key, !(correction instanceof Correction.IcePop), "loss.correction is not icepop");
    }
    for (String key : List.of("sequence_mask_low", "sequence_mask_high")) {
      noteWithoutEffect(
          key,
          config.loss().sequenceMask() == LossSection.MaskName.NONE,
          "loss.sequence_mask is none");
    }
  }

  private void advantages() {
    note(
        loss.baseline() == Baseline.PARTS_STANDARDISED
            && !loss.penalisesReward()
            && !loss.overlong().punishment().active(),
        "loss.baseline is parts_standardised and the reward has one part: its advantages are those"
            + " of standardised, in units of the step's deviation");
    VerifierSection verifier = config.verifier();
    note(
        loss.baseline() == Baseline.PARTS_STANDARDISED
            && verifier.rewards().stream()
                .anyMatch(reward -> verifier.rewardsOf(reward.source()).size() > 1),
        "loss.baseline is parts_standardised, and several verifier.rewards of a source are added up"
            + " before it, as one part: their units and weights count, where GDPO standardises each"
            + " by itself");
    noteWithoutEffect(
        "dr_grpo_constant",
        config.loss().objective() != ObjectiveName.DR_GRPO,
        "loss.objective is not dr_grpo");
    for (String key : List.of("sapo_positive", "sapo_negative")) {
      noteWithoutEffect(
          key, config.loss().objective() != ObjectiveName.SAPO, "loss.objective is not sapo");
    }
  }

  private void penalties() {
    note(
        loss.penalisesLoss() && loss.kl().estimator() == KlEstimator.K1,
        "loss.kl_estimator is k1 in the loss: its gradient is 0 in expectation, so the penalty only"
            + " adds noise; take k2 or k3, or kl_in: reward");
    note(
        loss.penalisesReward() && config.training().filterDegenerate(),
        "loss.kl_in is reward: groups of equal task rewards are put aside all the same, though the"
            + " penalty distinguishes their completions");
    noteWithoutEffect(
        "overlong_penalty", config.loss().overlongBuffer() == 0, "loss.overlong_buffer is 0");
    for (String key : List.of("kl_in", "kl_estimator")) {
      noteWithoutEffect(key, config.loss().klCoefficient() == 0, "loss.kl_coefficient is 0");
    }
    noteWithoutEffect(
        "reference_refresh_every",
        !loss.readsReference(config.distillation().hasTeacher()),
        "nothing reads the reference policy");
  }

  private void distillation() {
    note(
        loss.shares().policy() == 0 && config.training().filterDegenerate(),
        "distillation.policy_coefficient is 0: rewards only choose which groups are trained on, and"
            + " training.filter_degenerate puts those of equal rewards aside, which a teacher could"
            + " tell something about");
    note(
        config.distillation().discards(),
        "distillation.discard_perfect: completions with a reward of 1 have no weight; a step of"
            + " them alone is skipped");
    noteIdle(
        "distillation.discard_perfect",
        !config.distillation().discards(),
        "distillation.divergence is not forward_kl, or policy_coefficient is not 0");
    for (String key :
        List.of("coefficient", "mix", "top_k", "teacher", "teacher_urls", "teacher_prompt")) {
      noteIdle(
          "distillation." + key,
          config.distillation().divergence() == Divergence.NONE,
          "distillation.divergence is none");
    }
    noteIdle(
        "distillation.mix",
        config.distillation().divergence() == Divergence.FORWARD_KL,
        "distillation.divergence is forward_kl");
  }

  private void idle() {
    for (String key : POLICY_GRADIENT) {
      noteWithoutEffect(key, loss.shares().policy() == 0, "distillation.policy_coefficient is 0");
    }
  }

  private void noteWithoutEffect(String key, boolean isIdle, String because) {
    noteIdle("loss." + key, isIdle, because);
  }

  private void noteIdle(String key, boolean isIdle, String because) {
    note(isIdle && resolved.isChosen(key), key + " has no effect: " + because);
  }

  private void note(boolean applies, String text) {
    if (applies) {
      notes.add(text);
    }
  }
}
