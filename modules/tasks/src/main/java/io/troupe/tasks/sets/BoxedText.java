package io.troupe.tasks.sets;

import java.util.Optional;

/** The final answer of a worked solution of MATH: the content of its last box. */
final class BoxedText {
  private BoxedText() {}

  /**
   * The content of the last {@code \boxed{…}} or {@code \fbox{…}}, or of {@code \boxed x} up to the
   * next dollar sign or white space.
   */
  static Optional<String> last(String solution) {
    int start = Math.max(solution.lastIndexOf("\\boxed"), solution.lastIndexOf("\\fbox"));
    if (start < 0) {
      return Optional.empty();
    }
    int at = start + (solution.startsWith("\\boxed", start) ? 6 : 5);
    while (at < solution.length() && solution.charAt(at) == ' ') {
      at++;
    }
    return at < solution.length() && solution.charAt(at) == '{'
        ? braced(solution, at)
        : bare(solution, at);
  }

  private static Optional<String> braced(String text, int open) {
    int depth = 0;
    for (int i = open; i < text.length(); i++) {
      char c = text.charAt(i);
      boolean escaped = text.charAt(i - 1) == '\\';
      if (c == '{' && !escaped) {
        depth++;
      } else if (c == '}' && !escaped && --depth == 0) {
        String content = text.substring(open + 1, i).strip();
        return content.isEmpty() ? Optional.empty() : Optional.of(content);
      }
    }
    return Optional.empty();
  }

  private static Optional<String> bare(String text, int start) {
    int end = start;
    while (end < text.length() && text.charAt(end) != '$' && text.charAt(end) > ' ') {
      end++;
    }
    return end == start ? Optional.empty() : Optional.of(text.substring(start, end));
  }
}
