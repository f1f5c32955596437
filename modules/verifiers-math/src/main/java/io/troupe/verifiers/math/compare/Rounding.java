package io.troupe.verifiers.math.compare;

import io.troupe.verifiers.math.expr.Expr;
import io.troupe.verifiers.math.expr.Expr.Call;
import io.troupe.verifiers.math.expr.Expr.Numeral;
import io.troupe.verifiers.math.expr.Operator;
import java.math.BigDecimal;
import java.util.Optional;

/**
 * Whether a decimal is another number, rounded.
 *
 * <p>It must have six significant digits at least and be right in all that it has: {@code 0.333333}
 * is a third, {@code 0.33333334} is not. Of two decimals the answer may be the gold rounded, but
 * never the other way round: an answer with more digits that is not equal is another number.
 */
final class Rounding {
  private static final int FEWEST_DIGITS = 6;

  private Rounding() {}

  /** The decimal that an expression is, its sign aside. */
  static Optional<Numeral> of(Expr expr) {
    return switch (expr) {
      case Numeral numeral when numeral.decimal() -> Optional.of(numeral);
      case Call(var operator, var arguments) when operator == Operator.NEGATE ->
          of(arguments.get(0));
      default -> Optional.empty();
    };
  }

  static boolean isSame(Expr gold, BigDecimal goldValue, Expr answer, BigDecimal answerValue) {
    Optional<Numeral> wanted = of(gold);
    Optional<Numeral> given = of(answer);
    if (wanted.isPresent() && given.isPresent()) {
      boolean cut = wanted.get().cut() || given.get().cut();
      boolean shorter = given.get().places() < wanted.get().places();
      boolean rounded = rounds(given.get(), answerValue, goldValue);
      boolean breaksOff = wanted.get().cut() && rounds(wanted.get(), goldValue, answerValue);
      return (shorter || cut) && (rounded || breaksOff);
    }
    return given.isPresent()
        ? rounds(given.get(), answerValue, goldValue)
        : wanted.isPresent() && rounds(wanted.get(), goldValue, answerValue);
  }

  private static boolean rounds(Numeral decimal, BigDecimal written, BigDecimal value) {
    BigDecimal unit = BigDecimal.ONE.scaleByPowerOfTen(-decimal.places());
    if (written.abs().divideToIntegralValue(unit).precision() < FEWEST_DIGITS) {
      return false;
    }
    BigDecimal distance = value.subtract(written).abs();
    boolean near = distance.multiply(BigDecimal.TWO).compareTo(unit) <= 0;
    boolean truncated =
        decimal.cut() && distance.compareTo(unit) < 0 && value.abs().compareTo(written.abs()) >= 0;
    return near || truncated;
  }
}
