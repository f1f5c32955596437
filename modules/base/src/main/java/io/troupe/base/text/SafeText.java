package io.troupe.base.text;

/** Text of others as one line that a terminal shows and does not obey. */
public final class SafeText {
  private static final int LONGEST = 120;

  private SafeText() {}

  /**
   * Returns the text without control or direction characters, cut where it is longer than a line.
   */
  public static String of(String text) {
    return of(text, LONGEST);
  }

  /**
   * Returns the text without control or direction characters.
   *
   * @param longest characters that are left of it; where it is longer, the last one is an ellipsis
   */
  public static String of(String text, int longest) {
    StringBuilder safe = new StringBuilder();
    text.codePoints()
        .limit(longest + 1L)
        .forEach(
            point -> {
              int type = Character.getType(point);
              boolean hidden =
                  type == Character.CONTROL
                      || type == Character.FORMAT
                      || type == Character.LINE_SEPARATOR
                      || type == Character.PARAGRAPH_SEPARATOR;
              safe.appendCodePoint(hidden ? '\uFFFD' : point);
            });
    if (safe.codePointCount(0, safe.length()) <= longest) {
      return safe.toString();
    }
    return safe.substring(0, safe.offsetByCodePoints(0, longest - 1)) + "…";
  }

  /** Returns the text with its control characters as escapes, as a configuration writes them. */
  public static String escaped(String text) {
    StringBuilder escaped = new StringBuilder();
    text.codePoints()
        .forEach(
            point -> {
              switch (point) {
                case '\n' -> escaped.append("\\n");
                case '\r' -> escaped.append("\\r");
                case '\t' -> escaped.append("\\t");
                default -> {
                  if (Character.getType(point) == Character.CONTROL) {
                    escaped.append("\\u%04x".formatted(point));
                  } else {
                    escaped.appendCodePoint(point);
                  }
                }
              }
            });
    return escaped.toString();
  }
}
