package io.troupe.verifiers.math.value;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.math.RoundingMode;

/**
 * Exponential, logarithm and circular functions of real numbers to a given number of digits, by
 * Taylor series after reduction of the argument. Absolute errors stay below {@code 10^(5-digits)}
 * times the larger of 1 and the result. The caller keeps arguments within bounds.
 */
public final class ElementaryFunctions {
  /** Digits of the constants; no evaluation asks for more than half of them. */
  private static final int CONSTANT_DIGITS = 320;

  private static final MathContext CONSTANT = new MathContext(CONSTANT_DIGITS);
  private static final BigDecimal TWO = BigDecimal.TWO;
  private static final BigDecimal PI = machin();
  private static final BigDecimal LN_10 =
      atanh(BigDecimal.valueOf(3))
          .multiply(BigDecimal.valueOf(6))
          .add(atanh(BigDecimal.valueOf(9)).multiply(TWO), CONSTANT);

  private final MathContext precision;
  private final BigDecimal pi;
  private final BigDecimal ln10;
  private final BigDecimal smallest;

  public ElementaryFunctions(int digits) {
    precision = new MathContext(digits, RoundingMode.HALF_EVEN);
    pi = PI.round(precision);
    ln10 = LN_10.round(precision);
    smallest = BigDecimal.ONE.movePointLeft(digits + 2);
  }

  public BigDecimal pi() {
    return pi;
  }

  /** e to the x, for |x| below a million. */
  public BigDecimal exp(BigDecimal x) {
    int tens = x.divide(ln10, precision).setScale(0, RoundingMode.HALF_EVEN).intValue();
    BigDecimal reduced =
        x.subtract(LN_10.multiply(BigDecimal.valueOf(tens)), CONSTANT)
            .round(precision)
            .divide(BigDecimal.valueOf(256), precision);
    BigDecimal sum = BigDecimal.ONE;
    BigDecimal term = BigDecimal.ONE;
    for (int n = 1; term.abs().compareTo(smallest) > 0; n++) {
      term = term.multiply(reduced).divide(BigDecimal.valueOf(n), precision);
      sum = sum.add(term, precision);
    }
    for (int i = 0; i < 8; i++) {
      sum = sum.multiply(sum, precision);
    }
    return sum.scaleByPowerOfTen(tens);
  }

  /** The natural logarithm of a positive number. */
  public BigDecimal ln(BigDecimal x) {
    int tens = x.precision() - x.scale();
    BigDecimal mantissa = x.scaleByPowerOfTen(-tens).round(precision);
    BigDecimal near = BigDecimal.valueOf(Math.log(mantissa.doubleValue()));
    BigDecimal t = mantissa.multiply(exp(near.negate()), precision).subtract(BigDecimal.ONE);
    BigDecimal rest = BigDecimal.ZERO;
    BigDecimal power = t;
    for (int n = 1; power.abs().compareTo(smallest) > 0; n++) {
      BigDecimal term = power.divide(BigDecimal.valueOf(n), precision);
      rest = n % 2 == 1 ? rest.add(term, precision) : rest.subtract(term, precision);
      power = power.multiply(t, precision);
    }
    return near.add(rest, precision)
        .add(LN_10.multiply(BigDecimal.valueOf(tens)), CONSTANT)
        .round(precision);
  }

  /** Sine and cosine, in this order, for |x| below 10^30. */
  public BigDecimal[] sinCos(BigDecimal x) {
    BigDecimal turn = PI.multiply(TWO);
    BigInteger turns = x.divide(turn, CONSTANT).setScale(0, RoundingMode.HALF_EVEN).toBigInteger();
    BigDecimal reduced =
        x.subtract(turn.multiply(new BigDecimal(turns)), CONSTANT)
            .divide(BigDecimal.valueOf(32), precision);
    BigDecimal square = reduced.multiply(reduced, precision).negate();
    BigDecimal sin = reduced;
    BigDecimal cos = BigDecimal.ONE;
    BigDecimal sinTerm = reduced;
    BigDecimal cosTerm = BigDecimal.ONE;
    for (int n = 1; cosTerm.abs().compareTo(smallest) > 0; n++) {
      cosTerm =
          cosTerm.multiply(square).divide(BigDecimal.valueOf((2L * n - 1) * (2L * n)), precision);
      sinTerm =
          sinTerm.multiply(square).divide(BigDecimal.valueOf((2L * n) * (2L * n + 1)), precision);
      cos = cos.add(cosTerm, precision);
      sin = sin.add(sinTerm, precision);
    }
    for (int i = 0; i < 5; i++) {
      BigDecimal doubled = sin.multiply(cos, precision).multiply(TWO);
      cos = BigDecimal.ONE.subtract(sin.multiply(sin, precision).multiply(TWO), precision);
      sin = doubled;
    }
    return new BigDecimal[] {sin, cos};
  }

  /** The angle of the point (x, y), in (-π, π]; the point is not the origin. */
  public BigDecimal angle(BigDecimal y, BigDecimal x) {
    int exponent =
        Math.max(
            y.signum() == 0 ? Integer.MIN_VALUE / 2 : y.precision() - y.scale(),
            x.signum() == 0 ? Integer.MIN_VALUE / 2 : x.precision() - x.scale());
    BigDecimal up = y.scaleByPowerOfTen(-exponent);
    BigDecimal right = x.scaleByPowerOfTen(-exponent);
    if (up.signum() == 0) {
      return right.signum() > 0 ? BigDecimal.ZERO : pi;
    }
    BigDecimal near = BigDecimal.valueOf(Math.atan2(up.doubleValue(), right.doubleValue()));
    BigDecimal[] turned = sinCos(near);
    BigDecimal along =
        right.multiply(turned[1], precision).add(up.multiply(turned[0], precision), precision);
    BigDecimal across =
        up.multiply(turned[1], precision).subtract(right.multiply(turned[0], precision), precision);
    BigDecimal t = across.divide(along, precision);
    BigDecimal square = t.multiply(t, precision).negate();
    BigDecimal rest = BigDecimal.ZERO;
    BigDecimal power = t;
    for (int n = 1; power.abs().compareTo(smallest) > 0; n += 2) {
      rest = rest.add(power.divide(BigDecimal.valueOf(n), precision), precision);
      power = power.multiply(square, precision);
    }
    return near.add(rest, precision);
  }

  private static BigDecimal machin() {
    return arctan(5)
        .multiply(BigDecimal.valueOf(16))
        .subtract(arctan(239).multiply(BigDecimal.valueOf(4)), CONSTANT);
  }

  /** The arctangent of 1/n. */
  private static BigDecimal arctan(int n) {
    return oddSeries(BigDecimal.valueOf(n), true);
  }

  /** The inverse hyperbolic tangent of 1/n. */
  private static BigDecimal atanh(BigDecimal n) {
    return oddSeries(n, false);
  }

  private static BigDecimal oddSeries(BigDecimal n, boolean alternating) {
    BigDecimal limit = BigDecimal.ONE.movePointLeft(CONSTANT_DIGITS + 5);
    BigDecimal square = n.multiply(n);
    BigDecimal power = BigDecimal.ONE.divide(n, CONSTANT);
    BigDecimal sum = BigDecimal.ZERO;
    for (int k = 0; power.compareTo(limit) > 0; k++) {
      BigDecimal term = power.divide(BigDecimal.valueOf(2L * k + 1), CONSTANT);
      sum = alternating && k % 2 == 1 ? sum.subtract(term) : sum.add(term);
      power = power.divide(square, CONSTANT);
    }
    return sum.round(CONSTANT);
  }
}
