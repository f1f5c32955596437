package io.troupe.verifiers.python;

import io.troupe.base.text.PythonText;
import io.troupe.verifiers.python.PatternNode.Characters;
import io.troupe.verifiers.python.PatternNode.Choice;
import io.troupe.verifiers.python.PatternNode.Kind;
import io.troupe.verifiers.python.PatternNode.Place;
import io.troupe.verifiers.python.PatternNode.Repeat;
import io.troupe.verifiers.python.PatternNode.Sequence;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntPredicate;

/**
 * Reads the regular part of Python's pattern language: no look-around, no back reference, no inline
 * flag. What Python refuses is refused here too, so that {@code **} never means what it means to
 * Java.
 */
final class PatternParser {
  /** Deeper nesting is no keyword. */
  private static final int MOST_NESTING = 50;

  private static final int MOST_REPEATS = 1_000;

  private final String pattern;
  private final int[] points;
  private final boolean ignoreCase;
  private final boolean multiline;
  private int at;
  private int groups;

  PatternParser(String pattern, boolean ignoreCase, boolean multiline) {
    this.pattern = pattern;
    this.points = pattern.codePoints().toArray();
    this.ignoreCase = ignoreCase;
    this.multiline = multiline;
  }

  PatternNode parse() {
    PatternNode node = choice(0);
    if (at < points.length) {
      throw invalid("unbalanced parenthesis");
    }
    return node;
  }

  /** Capturing groups seen so far. */
  int groups() {
    return groups;
  }

  private PatternNode choice(int nesting) {
    if (nesting > MOST_NESTING) {
      throw invalid("groups nested too deeply");
    }
    List<PatternNode> parts = new ArrayList<>();
    parts.add(sequence(nesting));
    while (next('|')) {
      parts.add(sequence(nesting));
    }
    return parts.size() == 1 ? parts.getFirst() : new Choice(List.copyOf(parts));
  }

  private PatternNode sequence(int nesting) {
    List<PatternNode> parts = new ArrayList<>();
    while (at < points.length && points[at] != '|' && points[at] != ')') {
      parts.add(quantified(item(nesting)));
    }
    return new Sequence(List.copyOf(parts));
  }

  private PatternNode item(int nesting) {
    int c = points[at++];
    return switch (c) {
      case '(' -> group(nesting);
      case '[' -> new Characters(set());
      case '.' -> new Characters(other -> other != '\n');
      case '^' -> new Place(multiline ? Kind.LINE_START : Kind.TEXT_START);
      case '$' -> new Place(multiline ? Kind.LINE_END : Kind.LAST_LINE_END);
      case '*', '+', '?' -> throw invalid("nothing to repeat");
      case '\\' -> escape();
      default -> new Characters(literal(c));
    };
  }

  private PatternNode group(int nesting) {
    if (!next('?')) {
      groups++;
    } else if (!next(':')) {
      throw invalid("an extension that is not supported");
    }
    PatternNode inner = choice(nesting + 1);
    if (!next(')')) {
      throw invalid("missing )");
    }
    return inner;
  }

  private PatternNode quantified(PatternNode node) {
    int start = at;
    int[] bounds = bounds();
    if (at == start) {
      return node;
    }
    if (node instanceof Place) {
      throw invalid("a repeated place");
    }
    boolean lazy = next('?');
    if (!lazy && next('+') && at < points.length) {
      throw invalid("a possessive quantifier");
    }
    int beforeNext = at;
    bounds();
    if (at != beforeNext) {
      throw invalid("multiple repeat");
    }
    return new Repeat(node, bounds[0], bounds[1], lazy);
  }

  /** The quantifier here, or nothing read: a brace that is none is itself. */
  private int[] bounds() {
    if (next('*')) {
      return new int[] {0, PatternNode.UNBOUNDED};
    }
    if (next('+')) {
      return new int[] {1, PatternNode.UNBOUNDED};
    }
    if (next('?')) {
      return new int[] {0, 1};
    }
    int start = at;
    if (next('{')) {
      int least = number();
      boolean range = next(',');
      int most = range ? number() : least;
      if ((range || least >= 0) && next('}')) {
        if (most >= 0 && most < Math.max(least, 0)) {
          throw invalid("min repeat greater than max repeat");
        }
        return new int[] {Math.max(least, 0), most < 0 ? PatternNode.UNBOUNDED : most};
      }
      at = start;
    }
    return new int[] {1, 1};
  }

  private int number() {
    int value = -1;
    while (at < points.length && points[at] >= '0' && points[at] <= '9') {
      value = Math.max(value, 0) * 10 + points[at++] - '0';
      if (value > MOST_REPEATS) {
        throw invalid("too many repeats");
      }
    }
    return value;
  }

  private PatternNode escape() {
    if (at == points.length) {
      throw invalid("bad escape (end of pattern)");
    }
    return switch (points[at]) {
      case 'A' -> place(Kind.TEXT_START);
      case 'Z' -> place(Kind.TEXT_END);
      case 'b' -> place(Kind.WORD_BOUNDARY);
      case 'B' -> place(Kind.NO_WORD_BOUNDARY);
      default -> new Characters(escapedSet());
    };
  }

  private PatternNode place(Kind kind) {
    at++;
    return new Place(kind);
  }

  /** Returns the set of characters that an escape behind a backslash means. */
  private IntPredicate escapedSet() {
    return switch (points[at]) {
      case 'd' -> shorthand(PythonText::isDecimal);
      case 'D' -> shorthand(c -> !PythonText.isDecimal(c));
      case 's' -> shorthand(PythonText::isSpace);
      case 'S' -> shorthand(c -> !PythonText.isSpace(c));
      case 'w' -> shorthand(PythonText::isWord);
      case 'W' -> shorthand(c -> !PythonText.isWord(c));
      default -> literal(escapedCharacter());
    };
  }

  private IntPredicate shorthand(IntPredicate set) {
    at++;
    return set;
  }

  private int escapedCharacter() {
    int c = points[at++];
    return switch (c) {
      case 'n' -> '\n';
      case 't' -> '\t';
      case 'r' -> '\r';
      case 'f' -> '\f';
      case 'v' -> 0x0b;
      case 'a' -> 0x07;
      case 'x' -> hexadecimal(2);
      case 'u' -> hexadecimal(4);
      default -> {
        if (PythonText.isAsciiLetter(c) || (c >= '0' && c <= '9')) {
          throw invalid("bad escape");
        }
        yield c;
      }
    };
  }

  private int hexadecimal(int digits) {
    int value = 0;
    for (int i = 0; i < digits; i++, at++) {
      int digit = at < points.length ? Character.digit(points[at], 16) : -1;
      if (digit < 0 || points[at] > 0x7f) {
        throw invalid("incomplete escape");
      }
      value = value * 16 + digit;
    }
    return value;
  }

  private IntPredicate set() {
    boolean negated = next('^');
    List<IntPredicate> members = new ArrayList<>();
    boolean first = true;
    while (first || !next(']')) {
      first = false;
      members.add(member());
    }
    IntPredicate union = c -> members.stream().anyMatch(m -> m.test(c));
    return negated ? union.negate() : union;
  }

  private IntPredicate member() {
    int from = setCharacter();
    if (from < 0) {
      at++;
      return escapedSet();
    }
    boolean range = at + 1 < points.length && points[at] == '-' && points[at + 1] != ']';
    if (!range) {
      return literal(from);
    }
    at++;
    int to = setCharacter();
    if (to < from) {
      throw invalid("bad character range");
    }
    IntPredicate between = c -> c >= from && c <= to;
    return ignoreCase
        ? c ->
            between.test(c)
                || between.test(Character.toLowerCase(c))
                || between.test(Character.toUpperCase(c))
        : between;
  }

  /** One character of a set, or -1, nothing read, before a shorthand such as {@code \w}. */
  private int setCharacter() {
    if (at >= points.length) {
      throw invalid("unterminated character set");
    }
    if (points[at] != '\\') {
      return points[at++];
    }
    if (at + 1 >= points.length) {
      throw invalid("unterminated character set");
    }
    if ("dDsSwW".indexOf(points[at + 1]) >= 0) {
      return -1;
    }
    at++;
    if (next('b')) {
      return '\b';
    }
    return escapedCharacter();
  }

  private IntPredicate literal(int wanted) {
    if (!ignoreCase) {
      return c -> c == wanted;
    }
    int folded = fold(wanted);
    return c -> c == wanted || fold(c) == folded;
  }

  private static int fold(int c) {
    return Character.toLowerCase(Character.toUpperCase(c));
  }

  private boolean peek(int c) {
    return at < points.length && points[at] == c;
  }

  private boolean next(int c) {
    boolean found = peek(c);
    at += found ? 1 : 0;
    return found;
  }

  private InvalidPatternException invalid(String problem) {
    return new InvalidPatternException(problem, pattern);
  }
}
