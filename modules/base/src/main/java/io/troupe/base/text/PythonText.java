package io.troupe.base.text;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.IntPredicate;

/**
 * Methods of Python's {@code str}, and the character classes of its {@code re}.
 *
 * <p>The traps: Python's characters are code points; its white space has U+001C to U+001F, U+0085
 * and the no-break spaces, which {@link String#strip()} leaves; {@code \w} takes every letter and
 * every number, but no combining mark.
 */
public final class PythonText {
  /** {@code string.punctuation}. */
  public static final String PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";

  private PythonText() {}

  /** {@code str.isspace} of one character, and {@code \s}. */
  public static boolean isSpace(int c) {
    return (c >= '\t' && c <= '\r')
        || (c >= 0x1c && c <= ' ')
        || c == 0x85
        || (c > 0x7f && Character.isSpaceChar(c));
  }

  /** {@code \w}: letters, numbers of every kind, and the underscore. */
  public static boolean isWord(int c) {
    return c == '_' || isAlphanumeric(c);
  }

  /** {@code str.isalnum} of one character. */
  public static boolean isAlphanumeric(int c) {
    return switch (Character.getType(c)) {
      case Character.DECIMAL_DIGIT_NUMBER, Character.LETTER_NUMBER, Character.OTHER_NUMBER -> true;
      default -> Character.isLetter(c);
    };
  }

  /** {@code \d}: the decimal digits of all scripts. */
  public static boolean isDecimal(int c) {
    return Character.getType(c) == Character.DECIMAL_DIGIT_NUMBER;
  }

  /** {@code string.punctuation} holds it. */
  public static boolean isPunctuation(int c) {
    return c > ' ' && c < 0x7f && !(c >= '0' && c <= '9') && !isAsciiLetter(c);
  }

  /** {@code [A-Za-z]}. */
  public static boolean isAsciiLetter(int c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  }

  /** {@code str.lower}. */
  public static String lower(String text) {
    return text.toLowerCase(Locale.ROOT);
  }

  /** {@code str.upper}. */
  public static String upper(String text) {
    return text.toUpperCase(Locale.ROOT);
  }

  /** {@code str.isupper}: a character with case, and none that is lower or title case. */
  public static boolean isUpper(String text) {
    return text.codePoints().anyMatch(Character::isUpperCase)
        && text.codePoints().noneMatch(c -> Character.isLowerCase(c) || Character.isTitleCase(c));
  }

  /** {@code str.islower}: a character with case, and none that is upper or title case. */
  public static boolean isLower(String text) {
    return text.codePoints().anyMatch(Character::isLowerCase)
        && text.codePoints().noneMatch(c -> Character.isUpperCase(c) || Character.isTitleCase(c));
  }

  /** {@code len}. */
  public static int length(String text) {
    return text.codePointCount(0, text.length());
  }

  /** {@code text[from:to]} in code points, for indices that are not negative. */
  public static String slice(String text, int from, int to) {
    int length = length(text);
    int start = Math.min(from, length);
    int end = Math.min(to, length);
    return start >= end
        ? ""
        : text.substring(text.offsetByCodePoints(0, start), text.offsetByCodePoints(0, end));
  }

  /** {@code str.strip()}. */
  public static String strip(String text) {
    return strip(text, PythonText::isSpace);
  }

  /** {@code str.rstrip()}. */
  public static String stripEnd(String text) {
    return stripEnd(text, PythonText::isSpace);
  }

  /** {@code str.strip(chars)}. */
  public static String strip(String text, IntPredicate drop) {
    return stripEnd(stripStart(text, drop), drop);
  }

  /** {@code str.lstrip(chars)}. */
  public static String stripStart(String text, IntPredicate drop) {
    int start = 0;
    while (start < text.length() && drop.test(text.codePointAt(start))) {
      start += Character.charCount(text.codePointAt(start));
    }
    return text.substring(start);
  }

  /** {@code str.rstrip(chars)}. */
  public static String stripEnd(String text, IntPredicate drop) {
    int end = text.length();
    while (end > 0 && drop.test(text.codePointBefore(end))) {
      end -= Character.charCount(text.codePointBefore(end));
    }
    return text.substring(0, end);
  }

  /** Whether {@code str.strip()} leaves nothing. */
  public static boolean isBlank(String text) {
    return text.codePoints().allMatch(PythonText::isSpace);
  }

  /** {@code str.split()}: the runs between white space. */
  public static List<String> split(String text) {
    return runs(text, c -> !isSpace(c));
  }

  /** {@code re.findall(r"\w+")}. */
  public static List<String> words(String text) {
    return runs(text, PythonText::isWord);
  }

  /** {@code str.split(separator)}: empty parts are kept. */
  public static List<String> split(String text, String separator) {
    List<String> parts = new ArrayList<>();
    int start = 0;
    int found;
    while ((found = text.indexOf(separator, start)) >= 0) {
      parts.add(text.substring(start, found));
      start = found + separator.length();
    }
    parts.add(text.substring(start));
    return parts;
  }

  /** {@code str.count(part)}: occurrences that do not overlap, of a part that is not empty. */
  public static int count(String text, String part) {
    int count = 0;
    int found = -part.length();
    while ((found = text.indexOf(part, found + part.length())) >= 0) {
      count++;
    }
    return count;
  }

  /** {@code str.removeprefix}. */
  public static String withoutPrefix(String text, String prefix) {
    return text.startsWith(prefix) ? text.substring(prefix.length()) : text;
  }

  /** {@code str.removesuffix}. */
  public static String withoutSuffix(String text, String suffix) {
    return text.endsWith(suffix) ? text.substring(0, text.length() - suffix.length()) : text;
  }

  /** {@code str.translate} that deletes {@code string.punctuation}. */
  public static String withoutPunctuation(String text) {
    StringBuilder kept = new StringBuilder(text.length());
    text.codePoints().filter(c -> !isPunctuation(c)).forEach(kept::appendCodePoint);
    return kept.toString();
  }

  /** {@code text == text[::-1]}, in code points. */
  public static boolean isPalindrome(String text) {
    int[] points = text.codePoints().toArray();
    for (int i = 0; i < points.length / 2; i++) {
      if (points[i] != points[points.length - 1 - i]) {
        return false;
      }
    }
    return true;
  }

  /** {@code str.splitlines()}: at every character that Python takes for the end of a line. */
  public static List<String> lines(String text, boolean keepEnds) {
    List<String> lines = new ArrayList<>();
    int start = 0;
    for (int i = 0; i < text.length(); i++) {
      if (!endsLine(text.charAt(i))) {
        continue;
      }
      int end = i;
      if (text.startsWith("\r\n", i)) {
        i++;
      }
      lines.add(text.substring(start, keepEnds ? i + 1 : end));
      start = i + 1;
    }
    if (start < text.length()) {
      lines.add(text.substring(start));
    }
    return lines;
  }

  private static boolean endsLine(char c) {
    return (c >= '\n' && c <= '\r')
        || (c >= 0x1c && c <= 0x1e)
        || c == 0x85
        || c == 0x2028
        || c == 0x2029;
  }

  /** {@code repr} of a string. */
  public static String repr(String text) {
    char quote = text.contains("'") && !text.contains("\"") ? '"' : '\'';
    StringBuilder repr = new StringBuilder().append(quote);
    text.codePoints()
        .forEach(
            c -> {
              switch (c) {
                case '\\' -> repr.append("\\\\");
                case '\n' -> repr.append("\\n");
                case '\r' -> repr.append("\\r");
                case '\t' -> repr.append("\\t");
                default -> {
                  if (c == quote) {
                    repr.append('\\').append(quote);
                  } else if (isPrintable(c)) {
                    repr.appendCodePoint(c);
                  } else {
                    String form = c > 0xffff ? "\\U%08x" : c > 0xff ? "\\u%04x" : "\\x%02x";
                    repr.append(String.format(Locale.ROOT, form, c));
                  }
                }
              }
            });
    return repr.append(quote).toString();
  }

  /** {@code str.isprintable} of one character: neither separator, but the blank, nor other. */
  public static boolean isPrintable(int c) {
    return switch (Character.getType(c)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.SURROGATE,
          Character.PRIVATE_USE,
          Character.UNASSIGNED,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR ->
          false;
      case Character.SPACE_SEPARATOR -> c == ' ';
      default -> true;
    };
  }

  private static List<String> runs(String text, IntPredicate member) {
    List<String> runs = new ArrayList<>();
    int start = -1;
    int c;
    for (int i = 0; i < text.length(); i += Character.charCount(c)) {
      c = text.codePointAt(i);
      if (!member.test(c)) {
        if (start >= 0) {
          runs.add(text.substring(start, i));
        }
        start = -1;
      } else if (start < 0) {
        start = i;
      }
    }
    if (start >= 0) {
      runs.add(text.substring(start));
    }
    return runs;
  }
}
