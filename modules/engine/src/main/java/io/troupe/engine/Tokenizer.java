package io.troupe.engine;

/** Text to token ids and back. Implementations are immutable and safe to share between threads. */
public interface Tokenizer {
  /**
   * The ids of a text, without any special token.
   *
   * @throws IllegalArgumentException if the text cannot be represented; the message names where
   */
  int[] encode(String text);

  /** The text of ids; special tokens become nothing. */
  String decode(int[] tokens);

  /** How many ids there are: ids are 0 to this minus 1. */
  int vocabularySize();

  /** The id that ends a completion. */
  int endOfSequence();
}
