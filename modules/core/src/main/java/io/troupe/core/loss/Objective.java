package io.troupe.core.loss;

import static io.troupe.core.Require.require;

import io.troupe.core.advantage.Baseline;
import java.util.List;

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

  /**
   * GRPO with a soft gate in place of the clip: the surrogate is 4/tau sigmoid(tau (rho - 1)) A,
   * with rho the ratio to the sampler and a temperature tau for each sign of the advantage (Gao et
   * al. 2025, "Soft Adaptive Policy Optimization"). Its derivative by rho is 1 at rho = 1 and falls
   * off smoothly on both sides. A ratio to the step's start is 1 in a step of one update, where the
   * gate never closes.
   *
   * @param positive tau where A > 0, finite, greater than 0
   * @param negative tau elsewhere, finite, greater than 0; greater than the other dampens more
   */
  record Sapo(double positive, double negative) implements Objective {
    public Sapo {
      require(
          positive > 0 && negative > 0 && Double.isFinite(positive) && Double.isFinite(negative),
          "the temperatures of SAPO are finite numbers greater than 0, not %s and %s",
          positive,
          negative);
    }
  }

  /**
   * The geometric mean of the tokens' clipped ratios to the sampler as the ratio of a sequence,
   * each token clipped by its log-ratio; mean over sequences (Zhao et al. 2025, "Geometric-Mean
   * Policy Optimization"). The clip range is in nats: [-clipLow, clipHigh].
   */
  record Gmpo() implements Objective {}

  /**
   * REINFORCE with the ratio to the sampler, without the tokens that leave a trust region: those
   * whose probability differs from the sampler's by more than the clip range, on the side to which
   * the advantage pushes; mean over all tokens of the step (Qi et al. 2026, "Rethinking the Trust
   * Region in LLM Reinforcement Learning", DPPO with the binary total variation). The clip range is
   * of p - q: [-clipLow, clipHigh].
   */
  record Dppo() implements Objective {
    /**
     * The largest ratio p/q by which a token's gradient is multiplied: a token that the sampler
     * held for very unlikely may grow a thousandfold within the region (the authors' code, and
     * verl's).
     */
    static final double MOST_RATIO = 20;
  }

  /**
   * A user's own.
   *
   * @param name of its class
   */
  record Own(String name, LossFunction function) implements Objective {
    /**
     * Asks the function and checks what it returns.
     *
     * @throws IllegalArgumentException if it has another number of elements than tokens, or one
     *     that is not finite
     */
    LossFunction.Surrogates of(double advantage, List<ScalarLoss.Token> tokens) {
      LossFunction.Surrogates surrogates = function.of(advantage, tokens);
      int values = surrogates.values().length;
      int derivatives = surrogates.derivatives().length;
      require(
          values == tokens.size() && derivatives == tokens.size(),
          "%s gave %d surrogates and %d derivatives for %d tokens",
          name,
          values,
          derivatives,
          tokens.size());
      for (int t = 0; t < values; t++) {
        require(
            Double.isFinite(surrogates.values()[t]) && Double.isFinite(surrogates.derivatives()[t]),
            "%s gave the surrogate %s with the derivative %s for token %d of %d; advantage %s, %s",
            name,
            surrogates.values()[t],
            surrogates.derivatives()[t],
            t,
            values,
            advantage,
            tokens.get(t));
      }
      return surrogates;
    }
  }

  /** The advantage of the paper. */
  default Baseline baseline() {
    return switch (this) {
      case Grpo(), Dapo(), Gspo(), Cispo(), Sapo(double _, double _), Gmpo(), Dppo(), Own _ ->
          Baseline.STANDARDISED;
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
      case Gspo(), Cispo(), Sapo(double _, double _), Gmpo(), Dppo(), Own _ -> true;
    };
  }

  /** Whether the surrogate is PPO's, the lesser of ratio and clipped ratio times the advantage. */
  default boolean takesDualClip() {
    return switch (this) {
      case Grpo(), DrGrpo(double _), Dapo(), Gspo() -> true;
      case Cispo(), Sapo(double _, double _), Gmpo(), Dppo(), Own _ -> false;
    };
  }

  /** Whether a token's surrogate depends on other tokens of its sequence. */
  default boolean readsSequence() {
    return this instanceof Gspo || this instanceof Gmpo || this instanceof Own;
  }
}
