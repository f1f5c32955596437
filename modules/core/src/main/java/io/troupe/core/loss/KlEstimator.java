package io.troupe.core.loss;

/**
 * Estimators of KL(policy || reference) from one token sampled by the policy, with d = log p_ref -
 * log p (Schulman, "Approximating KL divergence", 2020).
 *
 * <p>As a term of the loss an estimator acts by its derivative, and what that pulls towards is
 * another matter than what the value measures. Expectations are over tokens of the policy itself.
 */
public enum KlEstimator {
  /**
   * -d: unbiased, high variance, can be negative. Its derivative by log p is 1 whatever the
   * reference: as a penalty in the loss it has, in expectation, no effect. In the reward it is the
   * right one.
   */
  K1,
  /**
   * d²/2: biased as a value, low variance. Its derivative, -d, is in expectation the gradient of
   * KL(policy || reference).
   */
  K2,
  /**
   * exp(d) - d - 1: unbiased as a value, never negative; GRPO's choice (Shao et al. 2024, eq. 4).
   * Its derivative, 1 - exp(d), is in expectation the gradient of KL(reference || policy), and
   * grows without limit where the policy has forgotten what the reference would say.
   */
  K3;

  double value(double d) {
    return switch (this) {
      case K1 -> -d;
      case K2 -> d * d / 2;
      case K3 -> StrictMath.expm1(d) - d;
    };
  }

  /** Derivative of the value by log p; note dd/dlog p = -1. */
  double derivative(double d) {
    return switch (this) {
      case K1 -> 1;
      case K2 -> -d;
      case K3 -> -StrictMath.expm1(d);
    };
  }
}
