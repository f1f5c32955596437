package io.troupe.verifiers.math.parse;

import io.troupe.verifiers.math.parse.Expr.Listing;
import io.troupe.verifiers.math.parse.Expr.Numeral;
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
      Set.of("frac", "sqrt", "pi", "infty", "binom", "lfloor", "lceil");

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

  /** The value of digits with a point among them, and of {@code 0.1(6)}, a repeating decimal. */
  static Numeral number(String numeral) {
    if (numeral.length() > MOST_DIGITS) {
      throw new UnresolvedException(UnresolvedException.Why.TOO_LARGE);
    }
    int point = numeral.indexOf('.');
    if (point < 0) {
      return new Numeral(Rational.of(new BigInteger(numeral)), false);
    }
    int period = numeral.indexOf('(');
    String whole = numeral.substring(0, point);
    String decimals = numeral.substring(point + 1, period < 0 ? numeral.length() : period);
    StepBudget budget = new StepBudget();
    Rational plain = over(integer(whole + decimals), BigInteger.TEN.pow(decimals.length()), budget);
    if (period < 0) {
      return new Numeral(plain, true);
    }
    String repeated = numeral.substring(period + 1, numeral.length() - 1);
    BigInteger nines =
        BigInteger.TEN
            .pow(repeated.length())
            .subtract(BigInteger.ONE)
            .multiply(BigInteger.TEN.pow(decimals.length()));
    return new Numeral(plain.plus(over(integer(repeated), nines, budget), budget), false);
  }

  private static BigInteger integer(String digits) {
    return digits.isEmpty() ? BigInteger.ZERO : new BigInteger(digits);
  }

  private static Rational over(BigInteger numerator, BigInteger denominator, StepBudget budget) {
    return Rational.of(numerator).over(Rational.of(denominator), budget);
  }
}
