package io.troupe.app.config;

import io.troupe.app.config.binding.Default;
import io.troupe.app.config.binding.Doc;
import io.troupe.app.config.binding.Range;

/** What the policy learns from a teacher's distributions; the teacher is the reference policy. */
public record DistillationSection(
    @Doc(
            "Divergence from the reference policy, added to each token's loss: `jsd` (Agarwal et"
                + " al. 2024), `forward_kl`, or `none`.")
        @Default("none")
        Divergence divergence,
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
        double policyCoefficient) {
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
