package io.troupe.core.train;

/**
 * Estimators of KL(policy || reference) from one sampled token, with d = log p_ref - log p_policy
 * (Schulman, "Approximating KL divergence", 2020).
 */
public enum KlEstimator {
  /** -d: unbiased, high variance, can be negative. */
  K1,
  /** d²/2: biased, low variance. */
  K2,
  /** exp(d) - d - 1: unbiased, never negative. */
  K3
}
