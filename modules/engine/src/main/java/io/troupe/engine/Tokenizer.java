package io.troupe.engine;

import io.troupe.core.prompt.LiteralMark;
import io.troupe.core.prompt.ThoughtMarks;
import java.util.Set;

/**
 * Converts text to token ids and back. Implementations are immutable and safe to share between
 * threads.
 */
public interface Tokenizer {
  /** Marks the spelling of a special token as letters. */
  char LITERAL = LiteralMark.CHARACTER;

  /**
   * Returns the ids of a text without any special token: where the text spells a special token, its
   * letters are encoded.
   *
   * @throws IllegalArgumentException if the text cannot be represented; the message names the
   *     position
   */
  int[] encode(String text);

  /**
   * Returns a text of data so that {@link #encodeWithSpecial} reads no special token in it: behind
   * the first character of each spelling of one is {@link #LITERAL}, which is no part of the text.
   * A text that spells none is returned as it is.
   */
  default String literal(String text) {
    return text;
  }

  /**
   * Returns the ids of a text in which special tokens may be spelled out, as by a {@link
   * io.troupe.chat.ChatTemplate}. A spelling that {@link #literal} has marked is encoded as its
   * letters. Nothing else is added.
   *
   * @throws IllegalArgumentException if the text cannot be represented; the message names the
   *     position
   */
  int[] encodeWithSpecial(String text);

  /**
   * Returns the special tokens, spelled out, that begin a text which no chat template has made: the
   * tokens that the tokenizer's post-processor puts first, such as Llama 3's {@code
   * <|begin_of_text|>}. Empty if the post-processor adds none.
   */
  default String textStart() {
    return "";
  }

  /** Returns a text with {@link #textStart} before it, unless the text begins with that already. */
  default String withTextStart(String text) {
    return text.startsWith(textStart()) ? text : textStart() + text;
  }

  /**
   * Returns the text of ids without special tokens. Those that begin or end a thought are in it: a
   * text without them no longer says where its answer begins.
   */
  String decode(int[] tokens);

  /**
   * Returns the UTF-8 bytes that an id adds to a text, none for a special token but one of a {@link
   * ThoughtMarks thought's mark}. The bytes of consecutive ids are the bytes of their text, so that
   * a character or a stop string that spans several ids is found in them; the last bytes of an id
   * may be the beginning of a character that the next id completes.
   *
   * @throws IllegalArgumentException if {@code token} is no id
   */
  byte[] bytes(int token);

  /** Returns a special token as a text spells it; empty if no text does. */
  default String spelling(int token) {
    return "";
  }

  /** Returns the number of ids: ids are 0 to this number minus 1. */
  int vocabularySize();

  /** Returns the id that ends a completion, the first of {@link #endIds}. */
  int endOfSequence();

  /**
   * Whether an id is a special token: it ends completions, adds nothing to a text, or marks a
   * thought as a special token.
   */
  default boolean isSpecial(int token) {
    return endIds().contains(token) || bytes(token).length == 0;
  }

  /** Returns all ids that end a completion: a chat model may end a turn or a text. */
  Set<Integer> endIds();
}
