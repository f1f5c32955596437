package io.troupe.engine;

import io.troupe.core.weights.WeightVersion;

/**
 * Hears of a request's tokens as they are drawn. It is called on the engine's thread and must
 * return at once; what it throws ends the engine.
 */
@FunctionalInterface
public interface TokenListener {
  /** Hears nothing. */
  TokenListener NONE = (_, _, _, _) -> {};

  /**
   * The next token of a completion.
   *
   * @param completion which of the request's, from 0
   * @param logProb under the distribution it was drawn from
   * @param version of the weights that drew it
   */
  void sampled(int completion, int token, float logProb, WeightVersion version);
}
