package io.troupe.sim.model;

import static io.troupe.core.Require.require;

import io.troupe.sim.model.KeyedRandom.Purpose;

/**
 * The duration of the verification of one completion, which is log-normal.
 *
 * @param meanSeconds of the distribution
 * @param sigma standard deviation of its logarithm
 * @param groupSeconds of a group on top, such as the way to the verifiers and back
 */
public record VerifyModel(double meanSeconds, double sigma, double groupSeconds) {
  public VerifyModel {
    require(
        meanSeconds >= 0 && groupSeconds >= 0 && sigma >= 0 && sigma <= 3,
        "verification: mean_seconds and group_seconds are not negative, sigma lies in [0, 3]");
  }

  /** Seconds of one completion's verification. */
  public double seconds(long seed, long group, int completion) {
    if (sigma == 0) {
      return meanSeconds;
    }
    double z = KeyedRandom.normal(seed, Purpose.VERDICT, group, completion);
    return meanSeconds * StrictMath.exp(sigma * z - sigma * sigma / 2);
  }
}
