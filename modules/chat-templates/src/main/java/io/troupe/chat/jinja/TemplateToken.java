package io.troupe.chat.jinja;

/**
 * A piece of a template.
 *
 * @param text of it; for a string, its value
 */
record TemplateToken(Kind kind, String text, int line) {
  enum Kind {
    /** Output as it is. */
    DATA,
    /** Two braces, which begin an output. */
    OUTPUT,
    /** A brace and a percent sign, which begin a statement. */
    TAG,
    /** The end of an output or a statement. */
    CLOSE,
    NAME,
    STRING,
    INTEGER,
    FLOAT,
    OPERATOR,
    END
  }

  boolean is(Kind other, String value) {
    return kind == other && text.equals(value);
  }
}
