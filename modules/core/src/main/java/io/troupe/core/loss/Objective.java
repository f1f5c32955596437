package io.troupe.core.loss;

import static io.troupe.core.Require.require;

import io.troupe.core.advantage.Baseline;

/**
 * The policy gradient of a run: which advantage it takes by default ({@link #baseline}), which mean
 * over tokens ({@link LossWeights}) and which surrogate ({@link ScalarLoss}).
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

  /**
   * One ratio for a whole sequence, the geometric mean of its tokens' ratios to the sampler,
   * clipped as one; mean over sequences (Zheng et al. 2025, "Group Sequence Policy Optimization",
   * eq. 5 and 7). Its clip range is some hundred times narrower than a token's.
   */
  record Gspo() implements Objective {}

  /**
   * REINFORCE with the ratio to the sampler, cut to the clip range, as a weight without gradient;
   * mean over all tokens of the step (MiniMax 2025, "MiniMax-M1", eq. 4). No token ever loses its
   * gradient to the clip, which only bounds how much it counts.
   */
  record Cispo() implements Objective {}

  /** The advantage of the paper. */
  default Baseline baseline() {
    return switch (this) {
      case Grpo(), Dapo(), Gspo(), Cispo() -> Baseline.STANDARDISED;
      case DrGrpo(double _) -> Baseline.CENTRED;
    };
  }

  /**
   * Whether the ratio is by definition the one to the sampler, and so answers for older weights
   * itself: no {@link Correction} goes with it.
   */
  default boolean correctsItself() {
    return switch (this) {
      case Grpo(), DrGrpo(double _), Dapo() -> false;
      case Gspo(), Cispo() -> true;
    };
  }
}
