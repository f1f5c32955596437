package io.troupe.base.text;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.math.RoundingMode;

/** Numbers in the spelling of Python. */
public final class PythonNumber {
  private PythonNumber() {}

  /**
   * Python's {@code repr} of a float: the shortest digits that are read back as the same number,
   * with an exponent from 1e16 on and below 1e-4.
   */
  public static String repr(double number) {
    if (Double.isNaN(number)) {
      return "nan";
    }
    if (Double.isInfinite(number)) {
      return number > 0 ? "inf" : "-inf";
    }
    if (number == 0) {
      return 1 / number < 0 ? "-0.0" : "0.0";
    }
    String sign = number < 0 ? "-" : "";
    BigDecimal shortest = shortest(Math.abs(number));
    String digits = shortest.unscaledValue().toString();
    int exponent = digits.length() - 1 - shortest.scale();
    if (exponent >= 16 || exponent < -4) {
      String fraction = digits.length() == 1 ? "" : "." + digits.substring(1);
      String size = Math.abs(exponent) < 10 ? "0" : "";
      return sign
          + digits.charAt(0)
          + fraction
          + (exponent < 0 ? "e-" : "e+")
          + size
          + Math.abs(exponent);
    }
    String plain = shortest.toPlainString();
    return sign + plain + (plain.contains(".") ? "" : ".0");
  }

  /** Java writes two digits where one is enough, as in 4.9E-324, which Python writes as 5e-324. */
  private static BigDecimal shortest(double number) {
    BigDecimal one = new BigDecimal(number).round(new MathContext(1, RoundingMode.HALF_EVEN));
    BigDecimal digits = one.doubleValue() == number ? one : new BigDecimal(Double.toString(number));
    return digits.stripTrailingZeros();
  }

  private static String real(double number) {
    if (Double.isNaN(number)) {
      return "NaN";
    }
    if (Double.isInfinite(number)) {
      return number > 0 ? "Infinity" : "-Infinity";
    }
    return repr(number);
  }

  /** A number of any class in JSON of Python's {@code json.dumps}; a decimal is a float there. */
  public static String json(Number number) {
    return switch (number) {
      case BigInteger whole -> whole.toString();
      case Integer whole -> whole.toString();
      case Long whole -> whole.toString();
      case Short whole -> whole.toString();
      case Byte whole -> whole.toString();
      case Float real -> real(Double.parseDouble(real.toString()));
      default -> real(number.doubleValue());
    };
  }
}
