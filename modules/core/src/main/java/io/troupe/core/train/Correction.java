package io.troupe.core.train;

import static io.troupe.core.Require.require;

/**
 * How the loss answers for tokens that other weights, or another engine's arithmetic, sampled. With
 * log p the trainer's (it carries the gradient), log p' the trainer's at the start of the step, and
 * log q the behaviour log-probability that came with the token.
 */
public sealed interface Correction {
  /**
   * The ratio of the clipped surrogate is p/q: PPO against the sampler itself. A token far from its
   * sampler falls out of the clip range, and with it out of the gradient when its advantage asks it
   * to move further.
   */
  record None() implements Correction {}

  /**
   * Decoupled PPO with truncated importance weights: the surrogate's ratio is p/p', and each
   * token's surrogate is multiplied by min(p'/q, cap), without gradient (Hilton et al. 2021; Yao et
   * al. 2025). The KL penalty is not multiplied. Where a step is a single update, p = p' in value:
   * the ratio is 1, nothing is clipped, and the gradient is the truncated policy gradient.
   *
   * @param cap upper limit of the weight, finite, greater than 0; 2 is the field's usual value
   */
  record TruncatedImportance(double cap) implements Correction {
    public TruncatedImportance {
      require(
          cap > 0 && Double.isFinite(cap),
          "the cap of truncated importance weights is a finite number greater than 0, not %s",
          cap);
    }
  }
}
