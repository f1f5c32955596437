package io.troupe.chat.python;

import io.troupe.base.text.PythonText;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Python's {@code int(text)}, {@code float(text)} and {@code round(number, places)}. */
public final class NumberText {
  private static final Pattern REAL =
      Pattern.compile(
          "[-+]?(?:\\d+(?:_\\d+)*(?:\\.(?:\\d+(?:_\\d+)*)?)?|\\.\\d+(?:_\\d+)*)"
              + "(?:[eE][-+]?\\d+(?:_\\d+)*)?");
  private static final Pattern WORD =
      Pattern.compile("([-+]?)(nan|inf|infinity)", Pattern.CASE_INSENSITIVE);
  private static final Pattern WHOLE =
      Pattern.compile("([-+]?)(0[xX]|0[oO]|0[bB])?(_?)([0-9a-zA-Z]+(?:_[0-9a-zA-Z]+)*)");
  private static final int MOST_PLACES = 400;

  private NumberText() {}

  /** {@code float(text)}; empty where Python raises a ValueError. */
  public static Optional<Double> real(String text) {
    String bare = ascii(text);
    Matcher word = WORD.matcher(bare);
    if (word.matches()) {
      boolean negative = word.group(1).equals("-");
      double value =
          word.group(2).charAt(0) == 'n' || word.group(2).charAt(0) == 'N'
              ? Double.NaN
              : negative ? Double.NEGATIVE_INFINITY : Double.POSITIVE_INFINITY;
      return Optional.of(value);
    }
    return REAL.matcher(bare).matches()
        ? Optional.of(Double.parseDouble(bare.replace("_", "")))
        : Optional.empty();
  }

  /** {@code int(text, base)}; empty where Python raises a ValueError. */
  public static Optional<BigInteger> whole(String text, int base) {
    if (base != 0 && (base < 2 || base > 36)) {
      return Optional.empty();
    }
    Matcher form = WHOLE.matcher(ascii(text));
    if (!form.matches()) {
      return Optional.empty();
    }
    String mark = form.group(2) == null ? "" : form.group(2).substring(1).toLowerCase(Locale.ROOT);
    int marked =
        switch (mark) {
          case "x" -> 16;
          case "o" -> 8;
          case "b" -> 2;
          default -> 10;
        };
    String digits = form.group(4).replace("_", "");
    if (!mark.isEmpty() && base != 0 && base != marked) {
      digits = form.group(2) + digits;
      if (!form.group(3).isEmpty()) {
        return Optional.empty();
      }
    } else if (mark.isEmpty() && !form.group(3).isEmpty()) {
      return Optional.empty();
    } else if (mark.isEmpty() && base == 0 && digits.startsWith("0") && !digits.matches("0+")) {
      return Optional.empty();
    }
    try {
      BigInteger value = new BigInteger(digits, base == 0 ? marked : base);
      return Optional.of(form.group(1).equals("-") ? value.negate() : value);
    } catch (NumberFormatException notOne) {
      return Optional.empty();
    }
  }

  /** A text without blanks around it, with the digits of other scripts as ASCII digits. */
  private static String ascii(String text) {
    StringBuilder ascii = new StringBuilder();
    PythonText.strip(text)
        .codePoints()
        .forEach(
            c -> {
              boolean digit = PythonText.isDecimal(c);
              ascii.appendCodePoint(digit ? '0' + Character.digit(c, 10) : c);
            });
    return ascii.toString();
  }

  /** {@code int(number)} of a float. */
  public static BigInteger truncated(double number) {
    return new BigDecimal(number).toBigInteger();
  }

  /** {@code round(number, places)}: to the nearest, and of two to the even one. */
  public static TemplateValue rounded(TemplateValue value, int places) {
    if (value instanceof TemplateValue.Real(double number)) {
      if (!Double.isFinite(number) || places > MOST_PLACES) {
        return value;
      }
      double rounded =
          new BigDecimal(number)
              .setScale(Math.max(places, -MOST_PLACES), RoundingMode.HALF_EVEN)
              .doubleValue();
      return new TemplateValue.Real(Math.copySign(rounded, number));
    }
    BigInteger whole = value.whole();
    return places >= 0
        ? new TemplateValue.Int(whole)
        : new TemplateValue.Int(
            new BigDecimal(whole)
                .setScale(Math.max(places, -MOST_PLACES), RoundingMode.HALF_EVEN)
                .toBigInteger());
  }
}
