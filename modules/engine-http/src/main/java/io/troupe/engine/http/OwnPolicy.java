package io.troupe.engine.http;

import io.troupe.engine.PolicyEngines;
import io.troupe.engine.Tokenizer;

/**
 * The run's own policy, as far as servers are to draw what it would.
 *
 * @param contextLength most tokens of prompt and completion together
 */
public record OwnPolicy(Tokenizer tokenizer, int contextLength, OwnScores scores) {
  /** That of engines, which stay open as long as it is used. */
  public static OwnPolicy of(PolicyEngines engines) {
    return new OwnPolicy(engines.tokenizer(), engines.contextLength(), OwnScores.by(engines));
  }
}
