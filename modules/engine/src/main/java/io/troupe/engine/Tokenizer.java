package io.troupe.engine;

import java.util.Set;

/** Text to token ids and back. Implementations are immutable and safe to share between threads. */
public interface Tokenizer {
  /**
   * The ids of a text, without any special token: where the text spells one, its letters are
   * encoded.
   *
   * @throws IllegalArgumentException if the text cannot be represented; the message names where
   */
  int[] encode(String text);

  /**
   * The ids of a text in which special tokens may be spelled out, as a {@link
   * io.troupe.chat.ChatTemplate} does. Nothing else is added.
   *
   * @throws IllegalArgumentException if the text cannot be represented; the message names where
   */
  int[] encodeWithSpecial(String text);

  /**
   * The special tokens, spelled out, with which a text begins that no chat template has made: what
   * the tokenizer's post-processor puts first, such as Llama 3's {@code <|begin_of_text|>}. Empty
   * where a text begins with its first word.
   */
  default String textStart() {
    return "";
  }

  /** A text that no chat template has made, with its start where it does not spell it itself. */
  default String withTextStart(String text) {
    return text.startsWith(textStart()) ? text : textStart() + text;
  }

  /** The text of ids; special tokens become nothing. */
  String decode(int[] tokens);

  /**
   * The UTF-8 bytes that an id adds to a text, none for a special token. The bytes of ids one after
   * the other are the bytes of their text, so that a character or a stop string that several ids
   * make up is found among them; what is no whole character yet may come with the next id.
   *
   * @throws IllegalArgumentException if it is no id
   */
  byte[] bytes(int token);

  /** How many ids there are: ids are 0 to this minus 1. */
  int vocabularySize();

  /** The id that ends a completion, the first of {@link #endIds}. */
  int endOfSequence();

  /** All ids that end a completion: a chat model may end a turn or a text. */
  Set<Integer> endIds();
}
