package io.troupe.engine.http.probe;

import io.troupe.engine.PolicyEngines;
import io.troupe.engine.Tokenizer;

/**
 * The parts of the run's policy that a server's samples are checked against.
 *
 * @param contextLength most tokens of prompt and completion together
 * @param recomputes whether keys and values are computed again when weights change within a
 *     completion
 */
public record LocalPolicy(
    Tokenizer tokenizer, int contextLength, LocalScorer scores, boolean recomputes) {
  /** A policy that keeps keys and values when weights change. */
  public LocalPolicy(Tokenizer tokenizer, int contextLength, LocalScorer scores) {
    this(tokenizer, contextLength, scores, false);
  }

  /** The policy of engines, which must stay open while it is used. */
  public static LocalPolicy of(PolicyEngines engines, boolean recomputes) {
    return new LocalPolicy(
        engines.tokenizer(), engines.contextLength(), LocalScorer.by(engines), recomputes);
  }

  /** Returns this policy with another scorer. */
  public LocalPolicy with(LocalScorer others) {
    return new LocalPolicy(tokenizer, contextLength, others, recomputes);
  }
}
