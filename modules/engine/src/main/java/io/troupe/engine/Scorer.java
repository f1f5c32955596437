package io.troupe.engine;

import io.troupe.core.loss.TeacherTokens;

/**
 * Tells log-probabilities of tokens that are there already, each given all before it, of the bare
 * logits: at temperature 1 and with nothing left out. May be called from any thread; calls block.
 */
public interface Scorer extends AutoCloseable {
  /**
   * What a policy says to a sequence of tokens, of which the first has nothing before it.
   *
   * @param logProbs of the tokens after the first, in nats, one fewer than tokens
   * @param likeliest the tokens it finds most likely in their places, a row each; {@link
   *     TeacherTokens#NONE} where none were asked for
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record Scores(double[] logProbs, TeacherTokens likeliest) {}

  /**
   * Scores a sequence.
   *
   * @param tokens ids, at least two
   * @param topK how many of the most likely tokens to tell at each place; 0 for none
   * @throws IllegalArgumentException if the sequence does not fit, or an id or {@code topK} is none
   * @throws IllegalStateException before the first weights
   * @throws UnsupportedOperationException if it cannot; says what to do
   */
  Scores score(int[] tokens, int topK);

  @Override
  void close();
}
