package io.troupe.verifiers.math.parse;

import io.troupe.verifiers.math.expr.Expr.Listing;
import io.troupe.verifiers.math.expr.Expr.Numeral;
import io.troupe.verifiers.math.expr.Operator;
import io.troupe.verifiers.math.expr.Rational;
import io.troupe.verifiers.math.expr.StepBudget;
import io.troupe.verifiers.math.expr.UnresolvedException;
import java.math.BigInteger;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The smallest parts of an answer: numerals, bases, and what may begin a factor. */
final class AtomParser {
  static final Listing EMPTY_SET = new Listing('{', '}', List.of());

  /** Longer numerals are no answers. */
  private static final int MOST_DIGITS = 1_000;

  private static final Set<String> FACTORS =
      Set.of(
          "frac",
          "sqrt",
          "pi",
          "infty",
          "binom",
          "lfloor",
          "lceil",
          "conjugate",
          "cis",
          "sum",
          "prod",
          "int",
          "lim");

  private static final Map<String, Integer> BASES =
      Map.ofEntries(
          Map.entry("two", 2),
          Map.entry("three", 3),
          Map.entry("four", 4),
          Map.entry("five", 5),
          Map.entry("six", 6),
          Map.entry("seven", 7),
          Map.entry("eight", 8),
          Map.entry("nine", 9),
          Map.entry("ten", 10),
          Map.entry("eleven", 11),
          Map.entry("twelve", 12),
          Map.entry("sixteen", 16));

  private AtomParser() {}

  /** Whether a command can be a factor without a sign before it. */
  static boolean begins(String command) {
    return FACTORS.contains(command)
        || command.startsWith("begin:")
        || Operator.function(command).isPresent();
  }

  /** The value of a base's name or numeral, from 2 to 36. */
  static int base(String name) {
    Integer named = BASES.get(name);
    int base =
        named != null ? named : isDigits(name) && name.length() <= 2 ? Integer.parseInt(name) : 0;
    if (base < 2 || base > 36) {
      throw AnswerParser.unreadable();
    }
    return base;
  }

  static boolean isDigits(String text) {
    return !text.isEmpty() && text.chars().allMatch(c -> c >= '0' && c <= '9');
  }

  /**
   * The value of digits with a point among them, of {@code 0.1(6)}, a repeating decimal, of {@code
   * 1.2e-5}, and of {@code 3.14~}, which breaks off.
   */
  static Numeral number(String numeral) {
    if (numeral.length() > MOST_DIGITS) {
      throw new UnresolvedException(UnresolvedException.Why.TOO_LARGE);
    }
    int exponent = numeral.indexOf('e');
    if (exponent > 0) {
      StepBudget budget = new StepBudget();
      BigInteger power = new BigInteger(numeral.substring(exponent + 1));
      Rational ten = Rational.of(10).power(power, budget);
      Numeral mantissa = number(numeral.substring(0, exponent));
      return Numeral.exact(mantissa.value().times(ten, budget));
    }
    int point = numeral.indexOf('.');
    if (point < 0) {
      return Numeral.exact(Rational.of(new BigInteger(numeral)));
    }
    int period = numeral.indexOf('(');
    boolean cut = numeral.endsWith("~");
    String decimals =
        numeral.substring(point + 1, period < 0 ? numeral.length() - (cut ? 1 : 0) : period);
    String whole = numeral.substring(0, point);
    StepBudget budget = new StepBudget();
    Rational plain = over(integer(whole + decimals), BigInteger.TEN.pow(decimals.length()), budget);
    if (period < 0) {
      return new Numeral(plain, decimals.length(), cut);
    }
    String repeated = numeral.substring(period + 1, numeral.length() - 1);
    BigInteger nines =
        BigInteger.TEN
            .pow(repeated.length())
            .subtract(BigInteger.ONE)
            .multiply(BigInteger.TEN.pow(decimals.length()));
    return Numeral.exact(plain.plus(over(integer(repeated), nines, budget), budget));
  }

  private static BigInteger integer(String digits) {
    return digits.isEmpty() ? BigInteger.ZERO : new BigInteger(digits);
  }

  private static Rational over(BigInteger numerator, BigInteger denominator, StepBudget budget) {
    return Rational.of(numerator).over(Rational.of(denominator), budget);
  }
}
