package io.troupe.core.loss;

import java.util.List;

/**
 * A policy gradient of a user's own: the surrogates of one sequence, in scalar arithmetic.
 *
 * <p>It takes the place of the surrogate in {@link ScalarLoss}; penalty, sequence mask,
 * distillation and entropy are added as for any other. The engines propagate its derivatives back,
 * so that no tensor code is needed. {@link LossCheck} proves them against finite differences.
 *
 * <p>An implementation has a public constructor without parameters and is pure: the same numbers
 * give the same surrogates, from any thread.
 */
public interface LossFunction {
  /** Over what the surrogates of a step are averaged. */
  enum Mean {
    /** Over all trained tokens of the step, so that every token counts the same. */
    TOKENS,
    /** Over the tokens of each sequence, and then over the sequences. */
    SEQUENCES
  }

  /**
   * The surrogates S of a sequence, which training maximises.
   *
   * @param values S of each token
   * @param derivatives of the sum of all values by each token's log p
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record Surrogates(double[] values, double[] derivatives) {}

  /**
   * Returns the surrogates of a sequence.
   *
   * @param advantage A, of the completion
   * @param tokens the trained ones in order, at least one; {@code referenceLogProb} means nothing
   *     without a KL penalty in the loss
   * @return an element a token in both arrays, finite
   */
  Surrogates of(double advantage, List<ScalarLoss.Token> tokens);

  /** The mean over a step. */
  default Mean mean() {
    return Mean.TOKENS;
  }
}
