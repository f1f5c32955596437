package io.troupe.engine.http.probe;

import io.troupe.engine.PolicyEngines;
import io.troupe.engine.Tokenizer;

/**
 * The run's own policy, as far as servers are to draw what it would.
 *
 * @param contextLength most tokens of prompt and completion together
 * @param recomputes whether keys and values are computed again when weights change within a
 *     completion
 */
public record LocalPolicy(
    Tokenizer tokenizer, int contextLength, LocalScorer scores, boolean recomputes) {
  /** One whose keys and values are kept when weights change. */
  public LocalPolicy(Tokenizer tokenizer, int contextLength, LocalScorer scores) {
    this(tokenizer, contextLength, scores, false);
  }

  /** That of engines, which stay open as long as it is used. */
  public static LocalPolicy of(PolicyEngines engines, boolean recomputes) {
    return new LocalPolicy(
        engines.tokenizer(), engines.contextLength(), LocalScorer.by(engines), recomputes);
  }

  /** The same, which another says what tokens are worth. */
  public LocalPolicy with(LocalScorer others) {
    return new LocalPolicy(tokenizer, contextLength, others, recomputes);
  }
}
