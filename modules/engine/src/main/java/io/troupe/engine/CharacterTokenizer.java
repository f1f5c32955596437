package io.troupe.engine;

import static io.troupe.core.Require.require;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * A tokenizer that gives each character (Unicode code point) one id: id 0 is padding, id 1 ends a
 * completion, and the characters of the alphabet follow in its order from id 2.
 */
public final class CharacterTokenizer implements Tokenizer {
  /** Fills rows of a batch up to a common length; never part of a text. */
  public static final int PADDING = 0;

  /** Ends a completion; never part of a text. */
  public static final int END_OF_SEQUENCE = 1;

  private static final int SPECIAL = 2;
  private static final int ABSENT = -1;

  private final String alphabet;
  private final int[] characters;
  private final Map<Integer, Integer> ids;

  /**
   * Creates a tokenizer of the given characters.
   *
   * @param alphabet at least one character, none of them twice
   * @throws IllegalArgumentException if a character occurs twice or is half a surrogate pair
   */
  public CharacterTokenizer(String alphabet) {
    require(!alphabet.isEmpty(), "the alphabet of a character tokenizer must not be empty");
    this.alphabet = alphabet;
    this.characters = alphabet.codePoints().toArray();
    this.ids = HashMap.newHashMap(characters.length);
    for (int i = 0; i < characters.length; i++) {
      int character = characters[i];
      require(
          Character.getType(character) != Character.SURROGATE,
          "character %d of the alphabet is half a surrogate pair (U+%04X); text never holds one",
          i,
          character);
      int earlier = ids.getOrDefault(character, ABSENT);
      require(
          earlier == ABSENT,
          "the alphabet holds each character once, but %s is at positions %d and %d",
          name(character),
          earlier - SPECIAL,
          i);
      ids.put(character, SPECIAL + i);
    }
  }

  @Override
  public int[] encode(String text) {
    int[] tokens = text.codePoints().toArray();
    for (int i = 0; i < tokens.length; i++) {
      int id = ids.getOrDefault(tokens[i], ABSENT);
      if (id == ABSENT) {
        throw unknown(tokens[i], i, tokens.length);
      }
      tokens[i] = id;
    }
    return tokens;
  }

  private IllegalArgumentException unknown(int character, int position, int length) {
    return new IllegalArgumentException(
        "character %s at position %d of a text of %d characters is not in the tokenizer's alphabet"
                .formatted(name(character), position, length)
            + " of %d; add it to the alphabet or remove it from the text"
                .formatted(characters.length));
  }

  /** Encodes like {@link #encode}: no text spells a special token. */
  @Override
  public int[] encodeWithSpecial(String text) {
    return encode(text);
  }

  @Override
  public byte[] bytes(int token) {
    return decode(new int[] {token}).getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public String decode(int[] tokens) {
    StringBuilder text = new StringBuilder(tokens.length);
    for (int i = 0; i < tokens.length; i++) {
      int token = tokens[i];
      require(
          token >= 0 && token < vocabularySize(),
          "token %d at position %d is no id of this tokenizer; ids lie in [0, %d]",
          token,
          i,
          vocabularySize() - 1);
      if (token >= SPECIAL) {
        text.appendCodePoint(characters[token - SPECIAL]);
      }
    }
    return text.toString();
  }

  @Override
  public int vocabularySize() {
    return SPECIAL + characters.length;
  }

  @Override
  public int endOfSequence() {
    return END_OF_SEQUENCE;
  }

  @Override
  public Set<Integer> endIds() {
    return Set.of(END_OF_SEQUENCE);
  }

  /** Returns the characters in the order of their ids. */
  public String alphabet() {
    return alphabet;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof CharacterTokenizer that && Arrays.equals(characters, that.characters);
  }

  @Override
  public int hashCode() {
    return alphabet.hashCode();
  }

  @Override
  public String toString() {
    return "characters(%d)".formatted(characters.length);
  }

  private static String name(int character) {
    String code = "U+%04X".formatted(character);
    boolean visible = !Character.isISOControl(character) && !Character.isWhitespace(character);
    return visible ? "'%s' (%s)".formatted(Character.toString(character), code) : code;
  }
}
