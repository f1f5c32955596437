package io.troupe.chat.jinja;

import io.troupe.chat.python.TemplateException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The text between the quotes of a template, with Python's escapes. */
final class StringLiteral {
  private static final Pattern ESCAPE =
      Pattern.compile(
          "\\\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3})|(.))",
          Pattern.DOTALL);
  private static final String SIMPLE = "abfnrtv\\'\"\n";
  private static final String MEANT = "\u0007\b\f\n\r\t\u000b\\'\"";

  private StringLiteral() {}

  /** Returns the value of a literal with its quotes. */
  static String value(String literal, int line) {
    String inside = literal.substring(1, literal.length() - 1);
    StringBuilder text = new StringBuilder();
    Matcher escape = ESCAPE.matcher(inside);
    int at = 0;
    while (escape.find(at)) {
      text.append(inside, at, escape.start());
      at = escape.end();
      String other = escape.group(5);
      if (other == null) {
        text.appendCodePoint(point(escape, line));
      } else if (other.equals("x") || other.equals("u") || other.equals("U") || other.equals("N")) {
        throw new TemplateException(
            line, "the escape '\\%s' in a text is not supported".formatted(other));
      } else if (!other.equals("\n")) {
        int known = SIMPLE.indexOf(other);
        text.append(known < 0 ? "\\" + other : MEANT.substring(known, known + 1));
      }
    }
    return text.append(inside.substring(at)).toString();
  }

  private static int point(Matcher escape, int line) {
    int point;
    if (escape.group(4) != null) {
      point = Integer.parseInt(escape.group(4), 8);
    } else {
      String digits = escape.group(1) != null ? escape.group(1) : escape.group(2);
      point = (int) Long.parseLong(digits != null ? digits : escape.group(3), 16);
    }
    if (!Character.isValidCodePoint(point) || (point >= 0xd800 && point < 0xe000)) {
      throw new TemplateException(line, "a text escapes what is no character");
    }
    return point;
  }
}
