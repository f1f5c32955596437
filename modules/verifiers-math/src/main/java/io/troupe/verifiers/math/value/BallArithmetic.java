package io.troupe.verifiers.math.value;

import io.troupe.verifiers.math.expr.Rational;
import io.troupe.verifiers.math.expr.StepBudget;
import io.troupe.verifiers.math.expr.UnresolvedException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.math.RoundingMode;

/**
 * Complex arithmetic to a number of digits that knows how wrong it is. Every operation carries
 * bounds of its arguments' errors and of its own rounding along, so that a difference that is
 * smaller than its error is distinguished from one that is not. Magnitudes are bounded: beyond
 * {@code 10^100000} a value is too large, below {@code 10^-100000} too small.
 */
public final class BallArithmetic {
  /** Decimal exponents of what can be computed. */
  private static final int MOST_EXPONENT = 100_000;

  private static final MathContext ERROR = new MathContext(4, RoundingMode.UP);
  private static final BigDecimal MOST_EXP_ARGUMENT = BigDecimal.valueOf(230_000);
  private static final BigDecimal MOST_ANGLE = BigDecimal.ONE.scaleByPowerOfTen(30);

  private final MathContext precision;
  private final ElementaryFunctions elementary;
  private final StepBudget budget;
  private final int cost;

  public BallArithmetic(int digits, StepBudget budget) {
    precision = new MathContext(digits, RoundingMode.HALF_EVEN);
    elementary = new ElementaryFunctions(digits);
    this.budget = budget;
    cost = 1 + digits / 40;
  }

  public Ball pi() {
    return rounded(elementary.pi(), BigDecimal.ZERO, BigDecimal.ZERO);
  }

  public Ball of(Rational value) {
    budget.spend(4);
    BigDecimal decimal = value.toDecimal(precision);
    return value.isInteger() && value.numerator().bitLength() < 64
        ? Ball.exact(decimal)
        : rounded(decimal, BigDecimal.ZERO, BigDecimal.ZERO);
  }

  /** A result after rounding; its error grows by that. */
  private Ball rounded(BigDecimal re, BigDecimal im, BigDecimal error) {
    BigDecimal magnitude = re.abs().max(im.abs());
    if (magnitude.signum() == 0) {
      return new Ball(BigDecimal.ZERO, BigDecimal.ZERO, error);
    }
    int exponent = magnitude.precision() - magnitude.scale();
    if (Math.abs(exponent) > MOST_EXPONENT) {
      throw new UnresolvedException(UnresolvedException.Why.TOO_LARGE);
    }
    BigDecimal rounding = BigDecimal.ONE.scaleByPowerOfTen(exponent - precision.getPrecision() + 3);
    return new Ball(re.round(precision), im.round(precision), error.add(rounding, ERROR));
  }

  public BigDecimal magnitude(Ball x) {
    return x.re().abs().add(x.im().abs(), ERROR);
  }

  public Ball add(Ball a, Ball b) {
    budget.spend(cost);
    BigDecimal error = a.error().add(b.error(), ERROR);
    BigDecimal re = a.re().add(b.re(), precision);
    BigDecimal im = a.im().add(b.im(), precision);
    // Digits that a sum loses are those of its larger term.
    BigDecimal largest = magnitude(a).max(magnitude(b));
    BigDecimal lost =
        largest.signum() == 0
            ? BigDecimal.ZERO
            : BigDecimal.ONE.scaleByPowerOfTen(
                largest.precision() - largest.scale() - precision.getPrecision() + 1);
    boolean exact =
        error.signum() == 0 && re.scale() <= 20 && im.signum() == 0 && re.precision() <= 40;
    return exact ? Ball.exact(re) : rounded(re, im, error.add(lost, ERROR));
  }

  public Ball negate(Ball a) {
    return new Ball(a.re().negate(), a.im().negate(), a.error());
  }

  public Ball multiply(Ball a, Ball b) {
    budget.spend(4L * cost);
    BigDecimal error =
        magnitude(a)
            .multiply(b.error(), ERROR)
            .add(magnitude(b).multiply(a.error(), ERROR), ERROR)
            .add(a.error().multiply(b.error(), ERROR), ERROR);
    BigDecimal re = a.re().multiply(b.re(), precision);
    if (a.isReal() && b.isReal()) {
      boolean exact = error.signum() == 0 && re.precision() <= 40 && re.scale() <= 20;
      return exact ? Ball.exact(re) : rounded(re, BigDecimal.ZERO, error);
    }
    return rounded(
        re.subtract(a.im().multiply(b.im(), precision), precision),
        a.re().multiply(b.im(), precision).add(a.im().multiply(b.re(), precision), precision),
        error.add(roundingOf(a, b), ERROR));
  }

  private BigDecimal roundingOf(Ball a, Ball b) {
    return magnitude(a)
        .multiply(magnitude(b), ERROR)
        .scaleByPowerOfTen(2 - precision.getPrecision());
  }

  public Ball divide(Ball a, Ball b) {
    budget.spend(10L * cost);
    BigDecimal size = b.re().abs().max(b.im().abs());
    if (size.compareTo(b.error().multiply(BigDecimal.TWO)) <= 0) {
      throw new UnresolvedException(UnresolvedException.Why.UNDEFINED);
    }
    BigDecimal square =
        b.re().multiply(b.re(), precision).add(b.im().multiply(b.im(), precision), precision);
    Ball top = multiply(a, new Ball(b.re(), b.im().negate(), BigDecimal.ZERO));
    BigDecimal re = top.re().divide(square, precision);
    BigDecimal im = top.im().divide(square, precision);
    BigDecimal quotient = re.abs().add(im.abs(), ERROR);
    BigDecimal error =
        a.error()
            .add(quotient.multiply(b.error(), ERROR).multiply(BigDecimal.TWO, ERROR), ERROR)
            .divide(size.subtract(b.error()), ERROR)
            .multiply(BigDecimal.TWO, ERROR)
            .add(quotient.scaleByPowerOfTen(4 - precision.getPrecision()), ERROR);
    return rounded(re, im, error);
  }

  /** An integer power by squaring. */
  public Ball power(Ball base, BigInteger exponent) {
    if (exponent.bitLength() > 20) {
      throw new UnresolvedException(UnresolvedException.Why.TOO_LARGE);
    }
    int n = Math.abs(exponent.intValue());
    Ball result = Ball.ONE;
    Ball square = base;
    while (n > 0) {
      if ((n & 1) == 1) {
        result = multiply(result, square);
      }
      n >>= 1;
      if (n > 0) {
        square = multiply(square, square);
      }
    }
    return exponent.signum() < 0 ? divide(Ball.ONE, result) : result;
  }

  public Ball exp(Ball x) {
    budget.spend(300L * cost);
    if (x.re().compareTo(MOST_EXP_ARGUMENT) > 0
        || x.re().negate().compareTo(MOST_EXP_ARGUMENT) > 0) {
      throw new UnresolvedException(UnresolvedException.Why.TOO_LARGE);
    }
    requireSmall(x.error());
    BigDecimal size = elementary.exp(x.re());
    BigDecimal error =
        size.abs().multiply(x.error().multiply(BigDecimal.TWO, ERROR).add(unit(8), ERROR), ERROR);
    if (x.isReal()) {
      return rounded(size, BigDecimal.ZERO, error);
    }
    requireAngle(x.im());
    BigDecimal[] turn = elementary.sinCos(x.im());
    return rounded(size.multiply(turn[1], precision), size.multiply(turn[0], precision), error);
  }

  /** The principal logarithm. */
  public Ball ln(Ball x) {
    budget.spend(400L * cost);
    BigDecimal size = x.re().abs().max(x.im().abs());
    if (size.compareTo(x.error().multiply(BigDecimal.TWO)) <= 0) {
      throw new UnresolvedException(UnresolvedException.Why.UNDEFINED);
    }
    boolean positive = x.isReal() && x.re().signum() > 0;
    BigDecimal modulus =
        positive || x.isReal()
            ? x.re().abs()
            : x.re().multiply(x.re()).add(x.im().multiply(x.im())).sqrt(precision);
    BigDecimal angle = positive ? BigDecimal.ZERO : elementary.angle(x.im(), x.re());
    BigDecimal error =
        x.error().divide(size, ERROR).multiply(BigDecimal.TWO, ERROR).add(unit(8), ERROR);
    return rounded(elementary.ln(modulus), angle, error);
  }

  /** The square root with the non-negative real part. */
  public Ball sqrt(Ball x) {
    budget.spend(60L * cost);
    if (x.isExactZero()) {
      return Ball.ZERO;
    }
    if (!x.isReal()) {
      return exp(multiply(ln(x), Ball.exact(new BigDecimal("0.5"))));
    }
    BigDecimal size = x.re().abs();
    if (size.compareTo(x.error().multiply(BigDecimal.TWO)) <= 0) {
      // Only known to be near zero: so is the root.
      BigDecimal bound = size.add(x.error()).sqrt(ERROR).multiply(BigDecimal.TWO, ERROR);
      return new Ball(BigDecimal.ZERO, BigDecimal.ZERO, bound);
    }
    BigDecimal root = size.sqrt(precision);
    BigDecimal error = x.error().divide(root, ERROR);
    return x.re().signum() > 0
        ? rounded(root, BigDecimal.ZERO, error)
        : rounded(BigDecimal.ZERO, root, error);
  }

  public Ball sin(Ball x) {
    return circular(x, false);
  }

  public Ball cos(Ball x) {
    return circular(x, true);
  }

  private Ball circular(Ball x, boolean cosine) {
    budget.spend(300L * cost);
    requireAngle(x.re());
    requireSmall(x.error());
    if (x.isReal()) {
      BigDecimal[] turn = elementary.sinCos(x.re());
      return rounded(
          turn[cosine ? 1 : 0],
          BigDecimal.ZERO,
          x.error().multiply(BigDecimal.TWO, ERROR).add(unit(8), ERROR));
    }
    Ball ix = new Ball(x.im().negate(), x.re(), x.error());
    Ball up = exp(ix);
    Ball down = exp(negate(ix));
    Ball twice = cosine ? add(up, down) : add(up, negate(down));
    Ball half = multiply(twice, Ball.exact(new BigDecimal("0.5")));
    return cosine ? half : new Ball(half.im(), half.re().negate(), half.error());
  }

  /** The arctangent, as half the angle between 1 + ix and 1 - ix. */
  public Ball arctan(Ball x) {
    if (x.isReal()) {
      budget.spend(400L * cost);
      BigDecimal angle = elementary.angle(x.re(), BigDecimal.ONE);
      return rounded(angle, BigDecimal.ZERO, x.error().add(unit(8), ERROR));
    }
    Ball ix = new Ball(x.im().negate(), x.re(), x.error());
    Ball difference = add(ln(add(Ball.ONE, ix)), negate(ln(add(Ball.ONE, negate(ix)))));
    Ball half = multiply(difference, Ball.exact(new BigDecimal("0.5")));
    return new Ball(half.im(), half.re().negate(), half.error());
  }

  /** -i ln(ix + sqrt(1 - x²)). */
  public Ball arcsin(Ball x) {
    boolean real = x.isReal() && x.re().abs().compareTo(BigDecimal.ONE) <= 0;
    Ball ix = new Ball(x.im().negate(), x.re(), x.error());
    Ball log = ln(add(ix, sqrt(add(Ball.ONE, negate(multiply(x, x))))));
    return new Ball(log.im(), real ? BigDecimal.ZERO : log.re().negate(), log.error());
  }

  public Ball arccos(Ball x) {
    Ball half = multiply(pi(), Ball.exact(new BigDecimal("0.5")));
    return add(half, negate(arcsin(x)));
  }

  public Ball absolute(Ball x) {
    if (x.isReal()) {
      return new Ball(x.re().abs(), BigDecimal.ZERO, x.error());
    }
    budget.spend(60L * cost);
    BigDecimal square = x.re().multiply(x.re()).add(x.im().multiply(x.im()));
    return rounded(square.sqrt(precision), BigDecimal.ZERO, x.error());
  }

  /**
   * Whether two values are the same within their errors: closer than both errors allow, or than
   * {@code 10^-digits} of the larger one.
   */
  public boolean isClose(Ball a, Ball b, int digits) {
    Ball difference = add(a, negate(b));
    BigDecimal distance = magnitude(difference);
    BigDecimal allowed = magnitude(a).max(magnitude(b)).scaleByPowerOfTen(-digits);
    return distance.compareTo(allowed) <= 0 || distance.compareTo(difference.error()) <= 0;
  }

  /** Whether an error is too large for the value to be compared. */
  public boolean isVague(Ball x, int digits) {
    return x.error().signum() > 0
        && x.error().compareTo(magnitude(x).scaleByPowerOfTen(-digits)) > 0;
  }

  private BigDecimal unit(int digitsLost) {
    return BigDecimal.ONE.scaleByPowerOfTen(digitsLost - precision.getPrecision());
  }

  private static void requireAngle(BigDecimal x) {
    if (x.abs().compareTo(MOST_ANGLE) > 0) {
      throw new UnresolvedException(UnresolvedException.Why.TOO_LARGE);
    }
  }

  private static void requireSmall(BigDecimal error) {
    if (error.compareTo(BigDecimal.valueOf(1, 6)) > 0) {
      throw new UnresolvedException(UnresolvedException.Why.UNDEFINED);
    }
  }
}
