package io.troupe.engine.http;

import io.troupe.engine.PolicyEngines;
import io.troupe.engine.Tokenizer;

/**
 * The run's own policy, as far as servers are to draw what it would.
 *
 * @param contextLength most tokens of prompt and completion together
 * @param recomputes whether keys and values are computed again when weights change within a
 *     completion
 */
public record OwnPolicy(
    Tokenizer tokenizer, int contextLength, OwnScores scores, boolean recomputes) {
  /** One whose keys and values are kept when weights change. */
  public OwnPolicy(Tokenizer tokenizer, int contextLength, OwnScores scores) {
    this(tokenizer, contextLength, scores, false);
  }

  /** That of engines, which stay open as long as it is used. */
  public static OwnPolicy of(PolicyEngines engines, boolean recomputes) {
    return new OwnPolicy(
        engines.tokenizer(), engines.contextLength(), OwnScores.by(engines), recomputes);
  }

  /** The same, which another says what tokens are worth. */
  OwnPolicy with(OwnScores others) {
    return new OwnPolicy(tokenizer, contextLength, others, recomputes);
  }
}
