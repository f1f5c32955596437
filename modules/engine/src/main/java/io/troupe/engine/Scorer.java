package io.troupe.engine;

import io.troupe.core.loss.TeacherTokens;

/**
 * Computes log-probabilities of given tokens, each conditioned on all tokens before it, from the
 * bare logits: at temperature 1 and with no token removed. It may be called from any thread; calls
 * block.
 */
public interface Scorer extends AutoCloseable {
  /**
   * The scores of a sequence under a policy; the first token has none, because no token is before
   * it.
   *
   * @param logProbs of the tokens after the first, in nats, one fewer than tokens
   * @param likeliest the most likely tokens at each position after the first, a row each; {@link
   *     TeacherTokens#NONE} if none were requested
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record Scores(double[] logProbs, TeacherTokens likeliest) {}

  /**
   * Scores a sequence.
   *
   * @param tokens ids, at least two
   * @param topK the number of most likely tokens to return at each position; 0 for none
   * @throws IllegalArgumentException if the sequence does not fit the context, or an id or {@code
   *     topK} is out of range
   * @throws IllegalStateException before the first weights
   * @throws UnsupportedOperationException if the scorer cannot; the message advises what to do
   */
  Scores score(int[] tokens, int topK);

  @Override
  void close();
}
