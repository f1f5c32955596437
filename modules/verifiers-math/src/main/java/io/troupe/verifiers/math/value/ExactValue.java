package io.troupe.verifiers.math.value;

import io.troupe.verifiers.math.expr.Expr;
import io.troupe.verifiers.math.expr.Expr.Call;
import io.troupe.verifiers.math.expr.Expr.Numeral;
import io.troupe.verifiers.math.expr.Expr.Variable;
import io.troupe.verifiers.math.expr.Operator;
import io.troupe.verifiers.math.expr.Rational;
import io.troupe.verifiers.math.expr.StepBudget;
import io.troupe.verifiers.math.expr.UnresolvedException;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The value of a scalar as a fraction, if it plainly has one. Sizes are known, and refused, before
 * anything is computed.
 */
public final class ExactValue {
  private static final int MOST_FACTORIAL = 2_500;
  private static final int MOST_TERMS = 2_000;

  private final Map<String, Rational> values;
  private final StepBudget budget;

  public ExactValue(Map<String, Rational> values, StepBudget budget) {
    this.values = values;
    this.budget = budget;
  }

  /**
   * Empty if the value is not rational, or not seen to be; leaves with {@link UnresolvedException}
   * if there is none. What is rational but too long to be written out is empty too: it has an
   * approximate value, or none, and {@link NumericEvaluation} finds out.
   */
  public Optional<Rational> of(Expr expr) {
    try {
      return value(expr);
    } catch (UnresolvedException e) {
      if (e.why() == UnresolvedException.Why.TOO_LARGE && budget.left() >= 0) {
        return Optional.empty();
      }
      throw e;
    }
  }

  private Optional<Rational> value(Expr expr) {
    budget.spend(1);
    return switch (expr) {
      case Numeral(var value, _, _) -> Optional.of(value);
      case Variable(var name) -> Optional.ofNullable(values.get(name));
      case Call(var operator, var arguments) -> call(operator, arguments);
      case Expr.Letters(_, var product) -> value(product);
      case Expr.Bound bound -> bound(bound);
      case Expr.Constant _, Expr.Structure _ -> Optional.empty();
    };
  }

  private Optional<Rational> bound(Expr.Bound bound) {
    return switch (bound.kind()) {
      case SUM, PRODUCT -> terms(bound);
      case INTEGRAL -> integral(bound);
      case LIMIT, LIMIT_FROM_ABOVE, LIMIT_FROM_BELOW -> Optional.empty();
    };
  }

  private Optional<Rational> terms(Expr.Bound bound) {
    Optional<Rational> from = value(bound.bounds().get(0)).filter(Rational::isInteger);
    Optional<Rational> to = value(bound.bounds().get(1)).filter(Rational::isInteger);
    if (from.isEmpty() || to.isEmpty()) {
      return Optional.empty();
    }
    Rational count = to.get().plus(from.get().negate(), budget);
    if (count.compareTo(Rational.of(MOST_TERMS)) > 0) {
      throw new UnresolvedException(UnresolvedException.Why.TOO_LARGE);
    }
    boolean sum = bound.kind() == Expr.Bound.Kind.SUM;
    Rational total = sum ? Rational.ZERO : Rational.ONE;
    Map<String, Rational> all = new HashMap<>(values);
    for (Rational k = from.get(); k.compareTo(to.get()) <= 0; k = k.plus(Rational.ONE, budget)) {
      all.put(bound.variable(), k);
      Optional<Rational> term = new ExactValue(all, budget).value(bound.body());
      if (term.isEmpty()) {
        return Optional.empty();
      }
      total = sum ? total.plus(term.get(), budget) : total.times(term.get(), budget);
    }
    return Optional.of(total);
  }

  /** An integral of a polynomial in its variable. */
  private Optional<Rational> integral(Expr.Bound bound) {
    if (bound.bounds().size() != 2 || !values.isEmpty()) {
      return Optional.empty();
    }
    Optional<Rational> from = value(bound.bounds().get(0));
    Optional<Rational> to = value(bound.bounds().get(1));
    Optional<Polynomial> polynomial =
        RationalFunction.of(bound.body(), budget).flatMap(RationalFunction::polynomial);
    if (from.isEmpty() || to.isEmpty() || polynomial.isEmpty()) {
      return Optional.empty();
    }
    Rational total = Rational.ZERO;
    for (var term : polynomial.get().terms().entrySet()) {
      Map<String, Integer> exponents = term.getKey().exponents();
      int power = exponents.getOrDefault(bound.variable(), 0);
      if (exponents.size() > (power > 0 ? 1 : 0)) {
        return Optional.empty();
      }
      BigInteger n = BigInteger.valueOf(power + 1L);
      Rational difference =
          to.get().power(n, budget).plus(from.get().power(n, budget).negate(), budget);
      total =
          total.plus(
              difference.times(term.getValue(), budget).over(Rational.of(n), budget), budget);
    }
    return Optional.of(total);
  }

  private Optional<Rational> call(Operator operator, List<Expr> arguments) {
    List<Rational> known = new ArrayList<>();
    for (Expr argument : arguments) {
      Optional<Rational> value = value(argument);
      if (value.isEmpty()) {
        return Optional.empty();
      }
      known.add(value.get());
    }
    Rational first = known.get(0);
    return switch (operator) {
      case ADD -> Optional.of(known.stream().reduce(Rational.ZERO, (a, b) -> a.plus(b, budget)));
      case MULTIPLY ->
          Optional.of(known.stream().reduce(Rational.ONE, (a, b) -> a.times(b, budget)));
      case NEGATE -> Optional.of(first.negate());
      case DIVIDE -> Optional.of(first.over(known.get(1), budget));
      case POWER -> power(first, known.get(1));
      case ROOT ->
          known.get(1).isInteger() && known.get(1).signum() > 0
              ? power(first, Rational.ONE.over(known.get(1), budget))
              : Optional.empty();
      case ABSOLUTE -> Optional.of(first.abs());
      case FLOOR -> Optional.of(Rational.of(first.floor()));
      case CEILING -> Optional.of(Rational.of(first.negate().floor()).negate());
      case FACTORIAL -> Optional.of(factorial(first, 1));
      case DOUBLE_FACTORIAL -> Optional.of(factorial(first, 2));
      case BINOMIAL -> Optional.of(binomial(first, known.get(1)));
      case PERCENT -> Optional.of(first.over(Rational.of(100), budget));
      case GCD -> integers(known).map(all -> reduce(all, false));
      case LCM -> integers(known).map(all -> reduce(all, true));
      case MAX -> known.stream().max(Rational::compareTo);
      case MIN -> known.stream().min(Rational::compareTo);
      default -> Optional.empty(); // no rational number
    };
  }

  private Optional<Rational> power(Rational base, Rational exponent) {
    if (exponent.isInteger()) {
      return Optional.of(base.power(exponent.numerator(), budget));
    }
    if (exponent.denominator().bitLength() > 12) {
      return Optional.empty();
    }
    return base.root(exponent.denominator().intValue(), budget)
        .map(root -> root.power(exponent.numerator(), budget));
  }

  private Rational factorial(Rational n, int step) {
    if (!n.isInteger() || n.signum() < 0) {
      throw new UnresolvedException(UnresolvedException.Why.UNDEFINED);
    }
    if (n.numerator().bitLength() > 30 || n.numerator().intValue() > MOST_FACTORIAL) {
      throw new UnresolvedException(UnresolvedException.Why.TOO_LARGE);
    }
    BigInteger product = BigInteger.ONE;
    for (int k = n.numerator().intValue(); k >= 2; k -= step) {
      budget.spend(1 + product.bitLength() / 512);
      product = product.multiply(BigInteger.valueOf(k));
    }
    return fitting(product);
  }

  /** Computes by falling factorials, so that the upper number may be any. */
  private Rational binomial(Rational n, Rational k) {
    if (!k.isInteger()) {
      throw new UnresolvedException(UnresolvedException.Why.UNDEFINED);
    }
    if (k.signum() < 0) {
      return Rational.ZERO;
    }
    Rational lower = k;
    if (n.isInteger() && n.compareTo(k) >= 0) {
      Rational other = n.plus(k.negate(), budget);
      lower = other.compareTo(k) < 0 ? other : k;
    }
    if (lower.numerator().bitLength() > 11) {
      throw new UnresolvedException(UnresolvedException.Why.TOO_LARGE);
    }
    Rational result = Rational.ONE;
    for (int j = 0; j < lower.numerator().intValue(); j++) {
      Rational factor = n.plus(Rational.of(-j), budget).over(Rational.of(j + 1), budget);
      result = result.times(factor, budget);
    }
    return result;
  }

  private static Rational fitting(BigInteger value) {
    if (value.bitLength() > StepBudget.MOST_BITS) {
      throw new UnresolvedException(UnresolvedException.Why.TOO_LARGE);
    }
    return Rational.of(value);
  }

  private static Optional<List<BigInteger>> integers(List<Rational> values) {
    return values.stream().allMatch(Rational::isInteger)
        ? Optional.of(values.stream().map(Rational::numerator).toList())
        : Optional.empty();
  }

  private Rational reduce(List<BigInteger> values, boolean multiple) {
    BigInteger result = values.get(0).abs();
    for (BigInteger value : values) {
      long words = Math.max(result.bitLength(), value.bitLength()) / 32;
      budget.spend(4 + words * words / 4);
      BigInteger divisor = result.gcd(value);
      if (multiple && divisor.signum() != 0) {
        result = fitting(result.divide(divisor).multiply(value.abs())).numerator();
      } else if (!multiple) {
        result = divisor;
      }
    }
    return Rational.of(result);
  }
}
