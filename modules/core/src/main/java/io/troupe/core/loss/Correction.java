package io.troupe.core.loss;

import static io.troupe.core.Require.require;

/**
 * The loss's correction for tokens that other weights, or another engine's arithmetic, sampled.
 * With log p the trainer's (it carries the gradient), log p' the trainer's at the start of the
 * step, and log q the behaviour log-probability that came with the token.
 *
 * <p>A weight multiplies a token's surrogate, without gradient; it never multiplies the KL penalty.
 * Where a step is a single update, p = p' in value: under the corrections that take the ratio to p'
 * it is 1, nothing is clipped, and the gradient is the weighted policy gradient.
 */
public sealed interface Correction {
  /**
   * The ratio of the clipped surrogate is p/q: PPO against the sampler itself. A token far from its
   * sampler falls out of the clip range, and with it out of the gradient when its advantage asks it
   * to move further.
   */
  record None() implements Correction {}

  /**
   * Decoupled PPO with truncated importance weights: the surrogate's ratio is p/p', and the weight
   * is min(p'/q, cap) (Hilton et al. 2021; Yao et al. 2025).
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

  /**
   * The surrogate's ratio is p/p', and the weight is p'/q where that lies in [low, high], else 0: a
   * token on which sampler and trainer disagree too much teaches nothing (Ling Team 2025, IcePop).
   *
   * @param low from 0 to 1; the paper has 0.5
   * @param high finite, 1 or greater; the paper has 5
   */
  record IcePop(double low, double high) implements Correction {
    public IcePop {
      require(low >= 0 && low <= 1, "the low end of IcePop lies in [0, 1], not %s", low);
      require(
          high >= 1 && Double.isFinite(high),
          "the high end of IcePop is a finite number, 1 or greater, not %s",
          high);
    }
  }

  /**
   * Decoupled PPO whose proximal policy is the version before the present one, interpolated between
   * sampler and trainer (Li et al. 2025, A-3PO; AReaL's {@code loglinear}). With s the token's
   * staleness,
   *
   * <pre>
   *   log p_prox = log q + (s - 1)/s (log p' - log q)     s &gt;= 1
   *              = log q                                  s = 0
   * </pre>
   *
   * <p>the ratio is p/p_prox and the weight p_prox/q. The clip bounds what the last version moved
   * the token, which a ratio to p' cannot see in a step of one update. A token of the present
   * weights or of the version before has the plain ratio p/q and weight 1: where nothing is staler,
   * this is {@link None}.
   *
   * @param cap of the weight, finite, greater than 0; AReaL has 5
   * @param over treatment of a weight above the cap
   */
  record Decoupled(double cap, OverCap over) implements Correction {
    public Decoupled {
      require(
          cap > 0 && Double.isFinite(cap),
          "the cap of decoupled importance weights is a finite number greater than 0, not %s",
          cap);
    }

    /** The share of log p' in the proximal policy's logarithm. */
    static double share(int staleness) {
      return staleness == 0 ? 0 : (staleness - 1.) / staleness;
    }
  }

  /** The treatment of an importance weight above its cap. */
  enum OverCap {
    /** The weight is 0: the token teaches nothing (AReaL's token_mask, its default). */
    MASKED,
    /** The weight is the cap (AReaL's token_truncate). */
    TRUNCATED
  }
}
