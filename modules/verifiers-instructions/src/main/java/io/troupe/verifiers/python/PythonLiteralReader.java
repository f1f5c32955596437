package io.troupe.verifiers.python;

import io.troupe.verifiers.python.PythonValue.Bool;
import io.troupe.verifiers.python.PythonValue.Dict;
import io.troupe.verifiers.python.PythonValue.Items;
import io.troupe.verifiers.python.PythonValue.None;
import io.troupe.verifiers.python.PythonValue.Num;
import io.troupe.verifiers.python.PythonValue.Text;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Reads text as {@code json.loads} does, or as {@code ast.literal_eval} does.
 *
 * <p>JSON: {@code NaN}, {@code Infinity} and duplicate keys pass; control characters in strings, a
 * byte order mark and trailing commas do not; nor do integers of more than 4300 digits, which
 * Python refuses to convert, or nesting deeper than its recursion allows.
 *
 * <p>Literals: strings with either quote, single or triple, with Python's escapes, joined where
 * they are side by side; numbers, lists, tuples, sets, dictionaries, {@code None}, {@code True},
 * {@code False}. Bytes, complex numbers and sums are not read.
 */
public final class PythonLiteralReader {
  private static final int MOST_NESTING = 900;
  private static final int MOST_DIGITS = 4300;

  private final String text;
  private final boolean literals;
  private int at;

  private PythonLiteralReader(String text, boolean literals) {
    this.text = text;
    this.literals = literals;
  }

  /** The value of JSON text; empty where {@code json.loads} fails. */
  public static Optional<PythonValue> json(String text) {
    return new PythonLiteralReader(text, false).whole();
  }

  /** The value of a Python literal; empty where {@code ast.literal_eval} fails. */
  public static Optional<PythonValue> literal(String text) {
    return new PythonLiteralReader(text, true).whole();
  }

  /** Not what was expected. */
  private static final class SyntaxException extends Exception {
    private static final long serialVersionUID = 1;
  }

  private Optional<PythonValue> whole() {
    try {
      PythonValue value = value(0);
      blanks();
      return at == text.length() ? Optional.of(value) : Optional.empty();
    } catch (SyntaxException e) {
      return Optional.empty();
    }
  }

  private PythonValue value(int nesting) throws SyntaxException {
    if (nesting > MOST_NESTING) {
      throw new SyntaxException();
    }
    blanks();
    char c = peek();
    if (c == '[') {
      return items(']', nesting);
    }
    if (c == '{') {
      return braces(nesting);
    }
    if (literals && c == '(') {
      return items(')', nesting);
    }
    if (c == '"' || (literals && c == '\'')) {
      return new Text(strings());
    }
    if (c == '-' || (c >= '0' && c <= '9') || (literals && (c == '+' || c == '.'))) {
      return new Num(number());
    }
    return name();
  }

  private PythonValue name() throws SyntaxException {
    Map<String, PythonValue> names =
        literals
            ? Map.of("None", new None(), "True", new Bool(true), "False", new Bool(false))
            : Map.of(
                "null", new None(),
                "true", new Bool(true),
                "false", new Bool(false),
                "NaN", new Num(Double.NaN),
                "Infinity", new Num(Double.POSITIVE_INFINITY));
    for (Map.Entry<String, PythonValue> name : names.entrySet()) {
      if (text.startsWith(name.getKey(), at)) {
        at += name.getKey().length();
        return name.getValue();
      }
    }
    throw new SyntaxException();
  }

  private Items items(char close, int nesting) throws SyntaxException {
    at++;
    List<PythonValue> values = new ArrayList<>();
    blanks();
    while (peek() != close) {
      values.add(value(nesting + 1));
      separator(close);
    }
    at++;
    return new Items(List.copyOf(values));
  }

  private PythonValue braces(int nesting) throws SyntaxException {
    at++;
    Map<String, PythonValue> entries = new LinkedHashMap<>();
    List<PythonValue> members = new ArrayList<>();
    blanks();
    while (peek() != '}') {
      PythonValue key = value(nesting + 1);
      blanks();
      if (peek() == ':' && members.isEmpty()) {
        at++;
        if (!literals && !(key instanceof Text)) {
          throw new SyntaxException();
        }
        entries.put(key instanceof Text(var name) ? name : key.toString(), value(nesting + 1));
      } else if (literals && entries.isEmpty()) {
        members.add(key);
      } else {
        throw new SyntaxException();
      }
      separator('}');
    }
    at++;
    return members.isEmpty() ? new Dict(Map.copyOf(entries)) : new Items(List.copyOf(members));
  }

  /** Reads a comma and stops before the next value, or stops before the closing bracket. */
  private void separator(char close) throws SyntaxException {
    blanks();
    if (peek() == ',') {
      at++;
      blanks();
      if (peek() == close && !literals) {
        throw new SyntaxException();
      }
    } else if (peek() != close) {
      throw new SyntaxException();
    }
  }

  private double number() throws SyntaxException {
    int start = at;
    if (peek() == '-' || peek() == '+') {
      at++;
    }
    if (!literals && text.startsWith("Infinity", at)) {
      at += "Infinity".length();
      return Double.NEGATIVE_INFINITY;
    }
    int whole = digits();
    boolean zeroLed = whole > 1 && text.charAt(at - whole) == '0';
    boolean integer = true;
    if (!literals && (whole == 0 || zeroLed)) {
      throw new SyntaxException();
    }
    if (has('.') && (literals || isDigit(at + 1))) {
      at++;
      integer = false;
      if (digits() + whole == 0) {
        throw new SyntaxException();
      }
    } else if (whole == 0) {
      throw new SyntaxException();
    }
    if ((has('e') || has('E')) && exponentFollows()) {
      integer = false;
      at += isDigit(at + 1) ? 1 : 2;
      digits();
    }
    if (integer && (zeroLed || whole > MOST_DIGITS)) {
      throw new SyntaxException();
    }
    return Double.parseDouble(text.substring(start, at));
  }

  private boolean exponentFollows() {
    boolean signed =
        at + 1 < text.length() && (text.charAt(at + 1) == '-' || text.charAt(at + 1) == '+');
    return isDigit(at + 1) || (signed && isDigit(at + 2));
  }

  private int digits() {
    int start = at;
    while (isDigit(at)) {
      at++;
    }
    return at - start;
  }

  private boolean isDigit(int index) {
    return index < text.length() && text.charAt(index) >= '0' && text.charAt(index) <= '9';
  }

  private String strings() throws SyntaxException {
    StringBuilder joined = new StringBuilder(string());
    if (literals) {
      blanks();
      while (has('"') || has('\'')) {
        joined.append(string());
        blanks();
      }
    }
    return joined.toString();
  }

  private String string() throws SyntaxException {
    char quote = peek();
    String triple = String.valueOf(quote).repeat(3);
    String close = literals && text.startsWith(triple, at) ? triple : String.valueOf(quote);
    at += close.length();
    StringBuilder value = new StringBuilder();
    while (!text.startsWith(close, at)) {
      char c = peek();
      if (literals ? c == '\n' && close.length() == 1 : c < ' ') {
        throw new SyntaxException();
      }
      at++;
      if (c == '\\') {
        escape(value);
      } else {
        value.append(c);
      }
    }
    at += close.length();
    return value.toString();
  }

  private void escape(StringBuilder value) throws SyntaxException {
    char c = peek();
    at++;
    switch (c) {
      case '"', '\\' -> value.append(c);
      case 'n' -> value.append('\n');
      case 't' -> value.append('\t');
      case 'r' -> value.append('\r');
      case 'b' -> value.append('\b');
      case 'f' -> value.append('\f');
      case 'u' -> value.append((char) hexadecimal(4));
      default -> {
        if (!literals) {
          if (c != '/') {
            throw new SyntaxException();
          }
          value.append(c);
        } else {
          literalEscape(c, value);
        }
      }
    }
  }

  private void literalEscape(char c, StringBuilder value) throws SyntaxException {
    switch (c) {
      case '\'' -> value.append(c);
      case '\n' -> {}
      case 'a' -> value.append('\u0007');
      case 'v' -> value.append('\u000b');
      case 'x' -> value.append((char) hexadecimal(2));
      case 'U' -> {
        int point = hexadecimal(8);
        if (!Character.isValidCodePoint(point)) {
          throw new SyntaxException();
        }
        value.appendCodePoint(point);
      }
      case 'N' -> throw new SyntaxException();
      default -> {
        if (c >= '0' && c <= '7') {
          int octal = c - '0';
          for (int i = 0; i < 2 && at < text.length() && isOctal(text.charAt(at)); i++) {
            octal = octal * 8 + text.charAt(at++) - '0';
          }
          value.append((char) octal);
        } else {
          value.append('\\').append(c);
        }
      }
    }
  }

  private static boolean isOctal(char c) {
    return c >= '0' && c <= '7';
  }

  private int hexadecimal(int digits) throws SyntaxException {
    int value = 0;
    for (int i = 0; i < digits; i++, at++) {
      char c = peek();
      int digit = c < 0x80 ? Character.digit(c, 16) : -1;
      if (digit < 0) {
        throw new SyntaxException();
      }
      value = (value << 4) | digit;
    }
    return value;
  }

  private void blanks() {
    while (at < text.length()
        && (" \t\n\r".indexOf(text.charAt(at)) >= 0 || (literals && text.charAt(at) == '\f'))) {
      at++;
    }
  }

  private boolean has(char c) {
    return at < text.length() && text.charAt(at) == c;
  }

  private char peek() throws SyntaxException {
    if (at >= text.length()) {
      throw new SyntaxException();
    }
    return text.charAt(at);
  }
}
