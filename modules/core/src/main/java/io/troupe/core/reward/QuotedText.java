package io.troupe.core.reward;

import java.util.regex.Pattern;

/**
 * A text with a mark before each of its lines, so that no line of the text passes for a line around
 * it. A line ends with whatever a reader may take for its end: Unicode's line breaks, and the
 * separators at which Python's {@code splitlines} breaks, too.
 */
public final class QuotedText {
  /** The beginning of each line. */
  public static final String MARK = "| ";

  private static final Pattern LINE_END =
      Pattern.compile("\r\n|[\n\r\u000B\u000C\u001C\u001D\u001E\u0085\u2028\u2029]");

  private QuotedText() {}

  /** The text with its line ends as they are; an empty text is one marked line. */
  public static String of(String text) {
    return MARK + LINE_END.matcher(text).replaceAll(end -> end.group() + MARK);
  }
}
