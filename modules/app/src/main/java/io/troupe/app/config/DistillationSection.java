package io.troupe.app.config;

import io.troupe.app.config.binding.Default;
import io.troupe.app.config.binding.Doc;
import io.troupe.app.config.binding.Range;
import io.troupe.app.config.binding.RelativeToFile;

/** What the policy learns from a teacher's distributions. */
public record DistillationSection(
    @Doc(
            "Divergence from the teacher, added to each token's loss: `jsd` (Agarwal et al. 2024),"
                + " `forward_kl`, or `none`.")
        @Default("none")
        Divergence divergence,
    @Doc(
            "The teacher: a Hugging Face checkpoint, or a run's, whose tokens are the policy's; a"
                + " relative path starts from the folder of the configuration file. Empty means the"
                + " reference policy.")
        @Default("")
        @RelativeToFile
        String teacher,
    @Doc(
            "What the teacher reads before a completion, with `{prompt}` and `{solution}` in it;"
                + " empty means the prompt itself. A completion that does not fit behind it teaches"
                + " nothing.")
        @Default("")
        String teacherPrompt,
    @Doc("Multiplies the divergence.") @Default("0.1") @Range(min = 0, minExclusive = true)
        double coefficient,
    @Doc("The teacher's share in the mixture of `jsd`.") @Default("0.9") @Range(min = 0, max = 1)
        double mix,
    @Doc(value = "K, the teacher's likeliest tokens at each position.", unit = "tokens")
        @Default("20")
        @Range(min = 1, max = 1000)
        int topK,
    @Doc(
            "Multiplies the policy gradient and the KL penalty beside it; 0 leaves the distillation"
                + " alone.")
        @Default("1.0")
        @Range(min = 0)
        double policyCoefficient,
    @Doc(
            "Whether on-policy self-distillation, `forward_kl` with policy_coefficient 0, leaves"
                + " out completions with a reward of 1, which have nothing to learn.")
        @Default("true")
        boolean discardPerfect) {
  /** Whether there is a teacher beside the reference policy. */
  public boolean hasTeacher() {
    return divergence != Divergence.NONE && !teacher.isEmpty();
  }

  /** Whether completions with a reward of 1 are left out. */
  boolean discards() {
    return discardPerfect && divergence == Divergence.FORWARD_KL && policyCoefficient == 0;
  }

  /** Divergences by name. */
  public enum Divergence {
    /** No teacher. */
    NONE,
    /** Generalised Jensen-Shannon divergence. */
    JSD,
    /** KL(teacher || policy). */
    FORWARD_KL
  }
}
