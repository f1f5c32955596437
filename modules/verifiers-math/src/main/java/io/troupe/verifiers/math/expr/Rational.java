package io.troupe.verifiers.math.expr;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.util.Optional;

/** A fraction in lowest terms with a positive denominator. Every operation pays for its size. */
public record Rational(BigInteger numerator, BigInteger denominator)
    implements Comparable<Rational> {
  public static final Rational ZERO = of(0);
  public static final Rational ONE = of(1);

  public static Rational of(long value) {
    return new Rational(BigInteger.valueOf(value), BigInteger.ONE);
  }

  public static Rational of(BigInteger value) {
    return new Rational(value, BigInteger.ONE);
  }

  public static Rational of(long numerator, long denominator) {
    return reduced(
        BigInteger.valueOf(numerator), BigInteger.valueOf(denominator), new StepBudget(1_000));
  }

  private static Rational reduced(BigInteger numerator, BigInteger denominator, StepBudget budget) {
    long bits = Math.max(numerator.bitLength(), denominator.bitLength());
    if (bits > StepBudget.MOST_BITS) {
      throw new UnresolvedException(UnresolvedException.Why.TOO_LARGE);
    }
    if (denominator.signum() == 0) {
      throw new UnresolvedException(UnresolvedException.Why.UNDEFINED);
    }
    if (denominator.equals(BigInteger.ONE)) {
      budget.spend(2 + bits / 64);
      return new Rational(numerator, denominator);
    }
    long words = bits / 32;
    budget.spend(4 + words * words / 16);
    BigInteger divisor = numerator.gcd(denominator);
    if (denominator.signum() < 0) {
      divisor = divisor.negate();
    }
    return new Rational(numerator.divide(divisor), denominator.divide(divisor));
  }

  public Rational plus(Rational other, StepBudget budget) {
    budget.spend(product(numerator, other.denominator) + product(other.numerator, denominator));
    return reduced(
        numerator.multiply(other.denominator).add(other.numerator.multiply(denominator)),
        denominator.multiply(other.denominator),
        budget);
  }

  public Rational times(Rational other, StepBudget budget) {
    budget.spend(product(numerator, other.numerator) + product(denominator, other.denominator));
    return reduced(
        numerator.multiply(other.numerator), denominator.multiply(other.denominator), budget);
  }

  public Rational over(Rational other, StepBudget budget) {
    return times(other.inverse(), budget);
  }

  private Rational inverse() {
    if (numerator.signum() == 0) {
      throw new UnresolvedException(UnresolvedException.Why.UNDEFINED);
    }
    return numerator.signum() > 0
        ? new Rational(denominator, numerator)
        : new Rational(denominator.negate(), numerator.negate());
  }

  public Rational negate() {
    return new Rational(numerator.negate(), denominator);
  }

  public Rational abs() {
    return new Rational(numerator.abs(), denominator);
  }

  /** An integer power; the size of the result is known, and refused, before it is computed. */
  public Rational power(BigInteger exponent, StepBudget budget) {
    if (signum() == 0) {
      if (exponent.signum() < 0) {
        throw new UnresolvedException(UnresolvedException.Why.UNDEFINED);
      }
      return exponent.signum() == 0 ? ONE : ZERO;
    }
    if (isOne() || (isInteger() && numerator.equals(BigInteger.ONE.negate()))) {
      return exponent.testBit(0) ? this : ONE;
    }
    long bits = Math.max(numerator.bitLength(), denominator.bitLength());
    if (exponent.bitLength() > 16 || bits * Math.abs(exponent.intValue()) > StepBudget.MOST_BITS) {
      throw new UnresolvedException(UnresolvedException.Why.TOO_LARGE);
    }
    int times = Math.abs(exponent.intValue());
    long words = bits * times / 32;
    budget.spend(2 + words * words / 4);
    Rational base = exponent.signum() < 0 ? inverse() : this;
    return new Rational(base.numerator.pow(times), base.denominator.pow(times));
  }

  /** The exact square root, if it is rational. */
  public Optional<Rational> root(int degree, StepBudget budget) {
    return root(numerator, degree, budget)
        .flatMap(top -> root(denominator, degree, budget).map(bottom -> new Rational(top, bottom)));
  }

  /** Newton's iteration from above, for a value of few bits. */
  private static Optional<BigInteger> root(BigInteger value, int degree, StepBudget budget) {
    if (value.signum() < 0) {
      return degree % 2 == 0
          ? Optional.empty()
          : root(value.negate(), degree, budget).map(BigInteger::negate);
    }
    if (value.bitLength() > 2_048) {
      return Optional.empty();
    }
    if (value.bitLength() <= 1 || degree == 1) {
      return Optional.of(value);
    }
    if (degree >= value.bitLength()) {
      return Optional.empty();
    }
    if (degree == 2) {
      budget.spend(20 + value.bitLength());
      BigInteger[] root = value.sqrtAndRemainder();
      return root[1].signum() == 0 ? Optional.of(root[0]) : Optional.empty();
    }
    BigInteger guess = BigInteger.ONE.shiftLeft(value.bitLength() / degree + 1);
    while (true) {
      budget.spend(20 + value.bitLength());
      BigInteger next =
          guess
              .multiply(BigInteger.valueOf(degree - 1L))
              .add(value.divide(guess.pow(degree - 1)))
              .divide(BigInteger.valueOf(degree));
      if (next.compareTo(guess) >= 0) {
        return guess.pow(degree).equals(value) ? Optional.of(guess) : Optional.empty();
      }
      guess = next;
    }
  }

  public BigInteger floor() {
    BigInteger[] parts = numerator.divideAndRemainder(denominator);
    return parts[1].signum() < 0 ? parts[0].subtract(BigInteger.ONE) : parts[0];
  }

  public boolean isInteger() {
    return denominator.equals(BigInteger.ONE);
  }

  boolean isOne() {
    return isInteger() && numerator.equals(BigInteger.ONE);
  }

  public int signum() {
    return numerator.signum();
  }

  public BigDecimal toDecimal(MathContext precision) {
    return new BigDecimal(numerator).divide(new BigDecimal(denominator), precision);
  }

  @Override
  public int compareTo(Rational other) {
    return numerator.multiply(other.denominator).compareTo(other.numerator.multiply(denominator));
  }

  private static long product(BigInteger a, BigInteger b) {
    return 2 + (long) (a.bitLength() / 32) * (b.bitLength() / 32) / 8;
  }

  @Override
  public String toString() {
    String top = text(numerator);
    return isInteger() ? top : top + "/" + text(denominator);
  }

  private static String text(BigInteger value) {
    return value.bitLength() > 200
        ? "an integer of %d bits".formatted(value.bitLength())
        : value.toString();
  }
}
