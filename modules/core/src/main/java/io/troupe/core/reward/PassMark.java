package io.troupe.core.reward;

import static io.troupe.core.Require.require;

import java.util.Optional;

/**
 * The rule that says what passes: a completion whose reward is the mark or more. Whatever counts
 * right and wrong completions counts by it.
 *
 * @param reward least reward that passes, any finite number
 */
public record PassMark(double reward) {
  /** The mark of verifiers that give from 0 to 1, where a completion passes that is right. */
  public static final PassMark FULL = new PassMark(1);

  /** Weighted sums of rewards, such as 0.7 and 0.3, may miss the mark by a rounding. */
  private static final double ROUNDING = 1e-6;

  public PassMark {
    require(Double.isFinite(reward), "the reward that passes is a finite number, not %s", reward);
  }

  /** Whether a completion of this reward passes. */
  public boolean passes(double given) {
    return given >= reward - ROUNDING * Math.abs(reward);
  }

  /**
   * Returns what a user should know where none of the completions passes though one earned more
   * than others, or more than nothing.
   *
   * @param lowest of their rewards
   * @param highest of their rewards
   */
  public Optional<String> unreached(double lowest, double highest) {
    return passes(highest) || highest <= Math.min(0, lowest)
        ? Optional.empty()
        : Optional.of(
            "no completion reached verifier.pass_reward (%s); the highest reward was %s: the share that passes stays 0 until one does, and the mean reward alone shows what is learned"
                .formatted(reward, highest));
  }
}
