package io.troupe.engine;

import io.troupe.core.weights.WeightVersion;

/**
 * Receives the tokens of a request when they are sampled. The engine calls it on its own thread; it
 * must return at once, and an exception that it throws ends the engine.
 */
@FunctionalInterface
public interface TokenListener {
  /** Ignores all tokens. */
  TokenListener NONE = (_, _, _, _) -> {};

  /**
   * Receives the next token of a completion.
   *
   * @param completion index of the completion in its request, from 0
   * @param logProb under the distribution from which the token was sampled
   * @param version of the weights that sampled the token
   */
  void sampled(int completion, int token, float logProb, WeightVersion version);
}
