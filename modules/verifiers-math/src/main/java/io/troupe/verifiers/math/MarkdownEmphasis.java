package io.troupe.verifiers.math;

import io.troupe.verifiers.math.parse.ParsedAnswer;
import java.util.List;
import java.util.Optional;

/**
 * Markdown's emphasis around an answer: "the answer is **40** dollars", "**the answer is 40**
 * dollars". It ends the answer, as a dollar sign ends mathematics.
 */
final class MarkdownEmphasis {
  private static final String STRONG = "**";
  private static final List<String> MARKERS = List.of("***", STRONG, "*", "__", "_");

  private MarkdownEmphasis() {}

  /**
   * Returns the text that is emphasised right behind a place, or from before the place on; nothing
   * if other answers follow it.
   *
   * @param from the end of the anchor's words
   */
  static Optional<String> read(String text, int from) {
    String rest =
        AnswerAnchor.cut(
            text, from, Math.min(text.length(), from + 2 * ParsedAnswer.MOST_CHARACTERS));
    int line = rest.indexOf('\n');
    String line0 = line < 0 ? rest : rest.substring(0, line);
    if (isOpen(text, from)) {
      int close = line0.indexOf(STRONG);
      if (close != 0) {
        return close < 0 ? Optional.empty() : inner(line0, 0, close, STRONG);
      }
      line0 = line0.substring(STRONG.length()); // It ends with the anchor's own words.
    }
    String answer = withoutLead(line0);
    for (String marker : MARKERS) {
      int start = marker.length();
      if (answer.startsWith(marker)) {
        int close = answer.indexOf(marker, start);
        return close <= start || Character.isWhitespace(answer.charAt(start))
            ? Optional.empty()
            : inner(answer, start, close, marker);
      }
    }
    return Optional.empty();
  }

  private static Optional<String> inner(String line, int start, int close, String marker) {
    return AnswerAnchor.continues(line, close + marker.length())
        ? Optional.empty()
        : Optional.of(line.substring(start, close));
  }

  /** Whether a strong emphasis has begun in the line and not ended before a place. */
  private static boolean isOpen(String text, int from) {
    boolean open = false;
    int at = text.indexOf(STRONG, text.lastIndexOf('\n', from - 1) + 1);
    while (at >= 0 && at < from) {
      open = !open;
      at = text.indexOf(STRONG, at + STRONG.length());
    }
    return open;
  }

  private static String withoutLead(String text) {
    int at = 0;
    while (at < text.length() && ":= \t".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
    return text.substring(at);
  }
}
