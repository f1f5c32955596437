package io.troupe.core.train;

import static io.troupe.core.Require.require;

/**
 * Which advantage ({@link io.troupe.core.advantage.Advantages}) and which mean over tokens ({@link
 * LossWeights}) a step takes. The token loss between them is the same: {@link ScalarLoss}.
 */
public sealed interface Objective {
  /**
   * Advantage over the group's standard deviation; mean over sequences of the mean over tokens, so
   * that a token of a long completion counts less (Shao et al. 2024, eq. 3).
   */
  record Grpo() implements Objective {}

  /**
   * Centred advantage; mean over sequences of the sum over tokens divided by a constant, so that
   * neither length nor difficulty changes what a token counts (Liu et al. 2025, "Understanding
   * R1-Zero-like training").
   *
   * @param constant C, in tokens, finite, greater than 0; the token limit is the usual choice
   */
  record DrGrpo(double constant) implements Objective {
    public DrGrpo {
      require(
          constant > 0 && Double.isFinite(constant),
          "the constant of Dr.GRPO is a finite number of tokens greater than 0, not %s",
          constant);
    }
  }

  /**
   * Advantage over the group's standard deviation; mean over all tokens of the step, so that every
   * token counts the same (Yu et al. 2025, eq. 8).
   */
  record Dapo() implements Objective {}
}
