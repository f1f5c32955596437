package io.troupe.core.train;

import static io.troupe.core.Require.require;

/**
 * How the loss answers for tokens that other weights, or another engine's arithmetic, sampled. With
 * log p the trainer's (it carries the gradient), log p' the trainer's at the start of the step, and
 * log q the behaviour log-probability that came with the token.
 */
public sealed interface Correction {
  /** The ratio of the clipped surrogate is p/q: PPO against the sampler itself. */
  record None() implements Correction {}

  /**
   * Decoupled PPO with truncated importance weights: the surrogate's ratio is p/p', and each token
   * is multiplied by min(p'/q, cap), without gradient (Hilton et al. 2021; Yao et al. 2025).
   *
   * @param cap upper limit of the weight, greater than 0; 2 is the field's usual value
   */
  record TruncatedImportance(double cap) implements Correction {
    public TruncatedImportance {
      require(cap > 0, "the cap of truncated importance weights is greater than 0, not %s", cap);
    }
  }
}
