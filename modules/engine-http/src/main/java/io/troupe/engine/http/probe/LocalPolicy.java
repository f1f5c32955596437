package io.troupe.engine.http.probe;

import io.troupe.engine.PolicyEngines;
import io.troupe.engine.Tokenizer;
import java.util.OptionalDouble;

/**
 * The parts of the run's policy that a server's samples are checked against.
 *
 * @param contextLength most tokens of prompt and completion together
 * @param recomputes whether keys and values are computed again when weights change within a
 *     completion
 * @param tolerance most nats, on average, between the log-probabilities of the policy and of a
 *     server that has merged weights for the first time; empty where merged weights are not
 *     compared
 */
public record LocalPolicy(
    Tokenizer tokenizer,
    int contextLength,
    LocalScorer scores,
    boolean recomputes,
    OptionalDouble tolerance) {
  /** A policy that keeps keys and values when weights change, and whose weights have digests. */
  public LocalPolicy(Tokenizer tokenizer, int contextLength, LocalScorer scores) {
    this(tokenizer, contextLength, scores, false, OptionalDouble.empty());
  }

  /** The policy of engines, which must stay open while it is used. */
  public static LocalPolicy of(
      PolicyEngines engines, boolean recomputes, OptionalDouble tolerance) {
    return new LocalPolicy(
        engines.tokenizer(),
        engines.contextLength(),
        LocalScorer.by(engines),
        recomputes,
        tolerance);
  }

  /** Returns this policy with another scorer. */
  public LocalPolicy with(LocalScorer others) {
    return new LocalPolicy(tokenizer, contextLength, others, recomputes, tolerance);
  }
}
