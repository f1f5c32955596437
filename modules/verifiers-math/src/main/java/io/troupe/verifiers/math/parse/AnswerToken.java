package io.troupe.verifiers.math.parse;

/**
 * A piece of an answer.
 *
 * @param text a numeral, a variable's name, words, a command without its backslash, or a sign
 * @param spaced whether white space is before it
 */
record AnswerToken(Kind kind, String text, boolean spaced) {
  static final AnswerToken END = new AnswerToken(Kind.END, "", false);

  enum Kind {
    NUMBER,
    /** A variable's name. */
    LETTER,
    /** A plain word of several letters, which may be a unit, or the product of its letters. */
    WORD,
    /** The text inside of {@code \text}. */
    TEXT,
    /** A unit behind a value, as {@link Units#joined} writes it. */
    UNIT,
    /** A numeral with its base before it: {@code 16:2F}. */
    BASED,
    COMMAND,
    SIGN,
    END
  }

  boolean is(Kind wanted, String wantedText) {
    return kind == wanted && text.equals(wantedText);
  }

  boolean isSign(String wanted) {
    return is(Kind.SIGN, wanted);
  }

  boolean isCommand(String wanted) {
    return is(Kind.COMMAND, wanted);
  }
}
