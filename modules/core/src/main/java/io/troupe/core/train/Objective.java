package io.troupe.core.train;

import static io.troupe.core.Require.require;

/** Which advantage and which mean over tokens a step takes. */
public sealed interface Objective {
  /** Advantage over the group's standard deviation; mean over sequences of the mean over tokens. */
  record Grpo() implements Objective {}

  /**
   * Centred advantage; mean over sequences of the sum over tokens divided by a constant (Liu et al.
   * 2025, "Understanding R1-Zero-like training").
   *
   * @param constant tokens, greater than 0; the token limit is the usual choice
   */
  record DrGrpo(double constant) implements Objective {
    public DrGrpo {
      require(constant > 0, "the constant of Dr.GRPO is greater than 0, not %s", constant);
    }
  }

  /** Advantage over the standard deviation; mean over all tokens of the step (Yu et al. 2025). */
  record Dapo() implements Objective {}
}
