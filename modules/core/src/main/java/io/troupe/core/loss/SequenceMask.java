package io.troupe.core.loss;

import static io.troupe.core.Require.require;

/**
 * The rule for sequences that are too far from their sampler to be learnt from. With x_t = log p' -
 * log q over the n trained tokens of a sequence (p' the trainer's probability at the start of the
 * step, q the sampler's), the surrogate of all tokens of a refused sequence is multiplied by 0; its
 * KL penalty stays, and so do all denominators.
 */
public sealed interface SequenceMask {
  /** Every sequence is kept. */
  record None() implements SequenceMask {}

  /**
   * Keeps a sequence whose geometric mean ratio, exp(mean of x_t), lies in [low, high]: what it has
   * drifted by on average (Tang et al. 2025, SkyRL; verl's k1 at sequence level).
   *
   * @param low greater than 0, at most 1; SkyRL has 0.99
   * @param high finite, 1 or greater; SkyRL has 1.01
   */
  record Geometric(double low, double high) implements SequenceMask {
    public Geometric {
      requireRange("geometric sequence mask", low, high);
    }
  }

  /**
   * Keeps a sequence all of whose ratios exp(x_t) lie in [low, high]: one token that the sampler
   * all but could not have sampled condemns the rest, which was sampled after it.
   *
   * @param low greater than 0, at most 1
   * @param high finite, 1 or greater
   */
  record Outlier(double low, double high) implements SequenceMask {
    public Outlier {
      requireRange("outlier sequence mask", low, high);
    }
  }

  private static void requireRange(String what, double low, double high) {
    require(low > 0 && low <= 1, "the low end of a %s lies in (0, 1], not %s", what, low);
    require(
        high >= 1 && Double.isFinite(high),
        "the high end of a %s is a finite number, 1 or greater, not %s",
        what,
        high);
  }
}
