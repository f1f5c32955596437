package io.troupe.verifiers.math;

import io.troupe.verifiers.math.parse.AnswerTokenizer;
import io.troupe.verifiers.math.parse.ParsedAnswer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Finds {@code \boxed{…}} and {@code \fbox{…}}, braces matched, and the form {@code \boxed 5} up to
 * a dollar sign, a space or the end of the line. Looks at the last 32 boxes only.
 */
final class BoxedAnswers {
  private static final String[] COMMANDS = {"\\boxed", "\\fbox", "\\framebox"};
  private static final int MOST_BOXES = 32;

  /** The most characters between two boxes that are one answer; longer texts are not read. */
  private static final int MOST_BETWEEN = 70;

  private static final Pattern NOTHING_SAID =
      Pattern.compile(
          "(?:[\\s$,;&~*{}-]"
              + "|\\\\[^a-zA-Z]"
              + "|\\\\(?:text|mathrm|quad|qquad)"
              + "|\\b(?:and|or)\\b"
              + "|(?<![a-zA-Z])[a-z](?:_\\{?[0-9]\\}?)? ?=)*+");

  /** What is around a box in a box and says nothing. */
  private static final Pattern MARKUP =
      Pattern.compile(
          "\\\\(?:boxed|fbox|framebox|text(?:bf|it|rm)?|math(?:bf|it|rm)|displaystyle)(?![a-zA-Z])"
              + "|[{}$\\s.]");

  private static final int MOST_NAME = 16;

  private static final Pattern NAME =
      Pattern.compile("(?<![a-zA-Z\\\\])[a-z](?:_\\{?[0-9]\\}?)? ?= ?$");

  private BoxedAnswers() {}

  /**
   * Returns the contents of the boxes, first to last. A box in a box counts once: as the inner one
   * if that is all, else as the outer one, as in {@code \\boxed{-\\boxed{5}}}.
   *
   * @return empty if there is no box, or the last one is not closed
   */
  static List<String> all(String text) {
    return spans(text).stream().map(span -> text.substring(span.start, span.end)).toList();
  }

  /**
   * Returns the contents of the last boxes that are side by side, with nothing between them but
   * commas, "and", "or" and the like: one answer of several parts. A sentence between two boxes
   * makes the later one a revision of the earlier, which counts for nothing.
   *
   * @return empty if there is no box, or the last one is not closed
   */
  static List<String> last(String text) {
    List<Span> spans = spans(text);
    int first = Math.max(0, spans.size() - 1);
    while (first > 0 && sideBySide(text, spans.get(first - 1), spans.get(first))) {
      first--;
    }
    List<Span> side = spans.subList(first, spans.size());
    List<String> names = side.stream().map(span -> nameBefore(text, span)).toList();
    boolean named = !names.contains("") && Set.copyOf(names).size() == names.size();
    boolean unknowns = named && side.size() > 1;
    return side.stream()
        .map(
            span -> (unknowns ? nameBefore(text, span) : "") + text.substring(span.start, span.end))
        .toList();
  }

  /** {@code x=} before a box; where each of several has another, it says what the box holds. */
  private static String nameBefore(String text, Span span) {
    String before = text.substring(Math.max(0, span.command - MOST_NAME), span.command);
    Matcher name = NAME.matcher(before);
    return name.find() ? name.group() : "";
  }

  private static boolean sideBySide(String text, Span left, Span right) {
    int from = left.end;
    int to = right.command;
    return to - from <= MOST_BETWEEN && NOTHING_SAID.matcher(text).region(from, to).matches();
  }

  /** Returns the beginning of the last box, closed or not; -1 if there is none. */
  static int lastIn(String text) {
    int last = -1;
    for (String command : COMMANDS) {
      last = Math.max(last, text.lastIndexOf(command));
    }
    return last;
  }

  /** Whether a position is inside of the last box. */
  static boolean isInLast(String text, int position) {
    List<Span> spans = spans(text);
    return !spans.isEmpty() && position >= spans.getLast().start && position < spans.getLast().end;
  }

  private static List<Span> spans(String text) {
    List<Span> found = new ArrayList<>();
    int[] next = new int[COMMANDS.length];
    for (int i = 0; i < next.length; i++) {
      next[i] = text.lastIndexOf(COMMANDS[i]);
    }
    int innerStart = Integer.MAX_VALUE;
    for (int i = 0; i < MOST_BOXES; i++) {
      int last = indexOfLargest(next);
      if (next[last] < 0) {
        break;
      }
      int start = next[last];
      Optional<Span> content = content(text, start);
      if (content.isEmpty()) {
        if (found.isEmpty()) {
          return List.of();
        }
      } else if (content.get().end <= innerStart) {
        found.addFirst(content.get());
        innerStart = start;
      } else if (encloses(text, content.get(), found)) {
        Span outer = content.get();
        found.removeIf(inner -> inner.end <= outer.end);
        found.addFirst(outer);
        innerStart = start;
      }
      next[last] = text.lastIndexOf(COMMANDS[last], start - 1);
    }
    return found;
  }

  /** Whether braces hold a box, all of it, and something else. */
  private static boolean encloses(String text, Span outer, List<Span> found) {
    boolean whole = found.stream().noneMatch(box -> box.command < outer.end && box.end > outer.end);
    return whole
        && text.charAt(outer.start - 1) == '{'
        && !plain(text, outer).equals(plain(text, found.getFirst()));
  }

  private static String plain(String text, Span span) {
    return MARKUP.matcher(text.substring(span.start, span.end)).replaceAll("");
  }

  private static int indexOfLargest(int[] values) {
    int best = 0;
    for (int i = 1; i < values.length; i++) {
      best = values[i] > values[best] ? i : best;
    }
    return best;
  }

  /** Whether there is a box, closed or not. */
  static boolean isIn(String text) {
    return lastIn(text) >= 0;
  }

  /** A box: where its command begins, and what it holds. */
  private record Span(int command, int start, int end) {}

  private static Optional<Span> content(String text, int start) {
    int at = start + 1;
    while (at < text.length() && AnswerTokenizer.isLetter(text.charAt(at))) {
      at++;
    }
    while (at < text.length() && text.charAt(at) == ' ') {
      at++;
    }
    if (at >= text.length()) {
      return Optional.empty();
    }
    return text.charAt(at) == '{' ? braced(text, start, at) : bare(text, start, at);
  }

  private static Optional<Span> braced(String text, int command, int open) {
    int depth = 0;
    int end = Math.min(text.length(), open + 2 * ParsedAnswer.MOST_CHARACTERS);
    for (int i = open; i < end; i++) {
      char c = text.charAt(i);
      if (c == '\\') {
        i++; // an escaped brace is no brace
      } else if (c == '{') {
        depth++;
      } else if (c == '}' && --depth == 0) {
        return Optional.of(new Span(command, open + 1, i));
      }
    }
    // A text longer than any answer is handed on as it is, to be called too large.
    return end < text.length() ? Optional.of(new Span(command, open + 1, end)) : Optional.empty();
  }

  private static Optional<Span> bare(String text, int command, int start) {
    int end = start;
    while (end < text.length()
        && end - start <= ParsedAnswer.MOST_CHARACTERS
        && "$ \n".indexOf(text.charAt(end)) < 0) {
      end++;
    }
    return end > start ? Optional.of(new Span(command, start, end)) : Optional.empty();
  }
}
