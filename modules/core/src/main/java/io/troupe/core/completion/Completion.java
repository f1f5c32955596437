package io.troupe.core.completion;

import static io.troupe.core.Require.require;

/**
 * One sampled answer: its tokens, the log-probability of each under the distribution it was really
 * sampled from, and the weight version of each.
 *
 * <p>A missing, non-finite or positive log-probability is refused here, where a completion enters
 * the loop, because an importance ratio built on an invented one trains silently wrong. Arrays are
 * handed over, not copied: no caller writes to them afterwards.
 */
public final class Completion {
  /** Rounding may lift the log-probability of a certain token this far above zero. */
  private static final float ROUNDING = 1e-4f;

  private static final float[] NONE = {};
  private static final int[] NEVER = {};

  private final int[] tokens;
  private final float[] logProbs;
  private final TokenVersions versions;
  private final FinishReason finishReason;
  private final float[] rawLogProbs;
  private final int[] preemptedAt;

  /** A completion without bare log-probabilities. */
  public Completion(
      int[] tokens, float[] logProbs, TokenVersions versions, FinishReason finishReason) {
    this(tokens, logProbs, versions, finishReason, NONE);
  }

  /** A completion that was never preempted. */
  public Completion(
      int[] tokens,
      float[] logProbs,
      TokenVersions versions,
      FinishReason finishReason,
      float[] rawLogProbs) {
    this(tokens, logProbs, versions, finishReason, rawLogProbs, NEVER);
  }

  /**
   * A completion of at least one token.
   *
   * @param tokens ids, the stop token included when there was one
   * @param logProbs natural logarithms, one a token
   * @param rawLogProbs log-probabilities of the bare logits, at temperature 1 and with nothing left
   *     out, one a token; empty where they were not asked for
   * @param preemptedAt tokens before which its keys and values were computed again, ascending,
   *     because it had lost its place in the cache
   * @throws IllegalArgumentException if lengths differ or a log-probability is not one
   */
  public Completion(
      int[] tokens,
      float[] logProbs,
      TokenVersions versions,
      FinishReason finishReason,
      float[] rawLogProbs,
      int[] preemptedAt) {
    require(tokens.length >= 1, "a completion has at least one token");
    require(
        logProbs.length == tokens.length && versions.tokens() == tokens.length,
        "a completion of %d tokens needs as many log-probabilities (%d) and versions (%d)",
        tokens.length,
        logProbs.length,
        versions.tokens());
    require(
        rawLogProbs.length == 0 || rawLogProbs.length == tokens.length,
        "a completion of %d tokens needs as many bare log-probabilities (%d) or none",
        tokens.length,
        rawLogProbs.length);
    for (int i = 0; i < logProbs.length; i++) {
      require(
          Float.isFinite(logProbs[i]) && logProbs[i] <= ROUNDING,
          "token %d of a completion has log-probability %s, which is none",
          i,
          logProbs[i]);
    }
    this.tokens = tokens;
    this.logProbs = logProbs;
    this.versions = versions;
    this.finishReason = finishReason;
    this.rawLogProbs = rawLogProbs;
    this.preemptedAt = preemptedAt;
  }

  /** Returns the token ids; the caller must not write to them. */
  public int[] tokens() {
    return tokens;
  }

  /** Returns the log-probability of each token under the distribution it was sampled from. */
  public float[] logProbs() {
    return logProbs;
  }

  /** Empty where they were not asked for. */
  public float[] rawLogProbs() {
    return rawLogProbs;
  }

  /** Tokens before which its keys and values were computed again; empty as a rule. */
  public int[] preemptedAt() {
    return preemptedAt;
  }

  /** Returns the weight version of each token. */
  public TokenVersions versions() {
    return versions;
  }

  /** Returns the reason why the completion ended. */
  public FinishReason finishReason() {
    return finishReason;
  }

  /** Returns the number of tokens. */
  public int length() {
    return tokens.length;
  }
}
