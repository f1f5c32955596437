package io.troupe.verifiers.math.value;

import io.troupe.verifiers.math.expr.Expr;
import io.troupe.verifiers.math.expr.Expr.Call;
import io.troupe.verifiers.math.expr.Expr.Constant;
import io.troupe.verifiers.math.expr.Expr.Numeral;
import io.troupe.verifiers.math.expr.Expr.Variable;
import io.troupe.verifiers.math.expr.Operator;
import io.troupe.verifiers.math.expr.Rational;
import io.troupe.verifiers.math.expr.StepBudget;
import io.troupe.verifiers.math.expr.UnresolvedException;
import java.math.BigInteger;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A quotient of polynomials, in which π and e count as letters. Not reduced. */
public record RationalFunction(Polynomial top, Polynomial bottom) {
  /** The quotient that a scalar is, if it is one and small enough to be written out. */
  public static Optional<RationalFunction> of(Expr expr, StepBudget budget) {
    try {
      return read(expr, budget);
    } catch (UnresolvedException e) {
      if (e.why() == UnresolvedException.Why.TOO_LARGE && budget.left() >= 0) {
        return Optional.empty();
      }
      throw e;
    }
  }

  private static Optional<RationalFunction> read(Expr expr, StepBudget budget) {
    budget.spend(2);
    return switch (expr) {
      case Numeral(var value, _, _) -> Optional.of(whole(Polynomial.of(value)));
      case Variable(var name) -> Optional.of(whole(Polynomial.of(name)));
      case Constant(var name) ->
          switch (name) {
            case PI, E -> Optional.of(whole(Polynomial.of("\\" + name)));
            case I, INFINITY -> Optional.empty();
          };
      case Call(var operator, var arguments) -> call(operator, arguments, budget);
      case Expr.Letters(_, var product) -> read(product, budget);
      case Expr.Bound bound ->
          new ExactValue(Map.of(), budget).of(bound).map(value -> whole(Polynomial.of(value)));
      case Expr.Structure _ -> Optional.empty();
    };
  }

  private static Optional<RationalFunction> call(
      Operator operator, List<Expr> arguments, StepBudget budget) {
    return switch (operator) {
      case ADD, MULTIPLY -> {
        Optional<RationalFunction> result = read(arguments.get(0), budget);
        for (Expr argument : arguments.subList(1, arguments.size())) {
          if (result.isEmpty()) {
            break;
          }
          RationalFunction left = result.get();
          result =
              read(argument, budget)
                  .map(
                      right ->
                          operator == Operator.ADD
                              ? left.plus(right, budget)
                              : left.times(right, budget));
        }
        yield result;
      }
      case NEGATE ->
          read(arguments.get(0), budget).map(f -> new RationalFunction(f.top.negate(), f.bottom));
      case DIVIDE ->
          read(arguments.get(0), budget)
              .flatMap(a -> read(arguments.get(1), budget).map(b -> a.times(b.inverse(), budget)));
      case POWER -> power(arguments, budget);
      case PERCENT ->
          read(arguments.get(0), budget)
              .map(f -> f.times(whole(Polynomial.of(Rational.of(1, 100))), budget));
      default -> // of constants only
          new ExactValue(Map.of(), budget)
              .of(new Call(operator, arguments))
              .map(value -> whole(Polynomial.of(value)));
    };
  }

  private static Optional<RationalFunction> power(List<Expr> arguments, StepBudget budget) {
    Optional<Rational> exponent =
        new ExactValue(Map.of(), budget).of(arguments.get(1)).filter(Rational::isInteger);
    if (exponent.isEmpty()) {
      return Optional.empty();
    }
    BigInteger n = exponent.get().numerator();
    return read(arguments.get(0), budget)
        .map(f -> n.signum() < 0 ? f.inverse() : f)
        .map(
            f ->
                new RationalFunction(
                    f.top.power(n.abs(), budget), f.bottom.power(n.abs(), budget)));
  }

  private static RationalFunction whole(Polynomial top) {
    return new RationalFunction(top, Polynomial.ONE);
  }

  private RationalFunction plus(RationalFunction other, StepBudget budget) {
    return bottom.equals(other.bottom)
        ? new RationalFunction(top.plus(other.top, budget), bottom)
        : new RationalFunction(
            top.times(other.bottom, budget).plus(other.top.times(bottom, budget), budget),
            bottom.times(other.bottom, budget));
  }

  private RationalFunction times(RationalFunction other, StepBudget budget) {
    return new RationalFunction(top.times(other.top, budget), bottom.times(other.bottom, budget));
  }

  private RationalFunction inverse() {
    if (top.isZero()) {
      throw new UnresolvedException(UnresolvedException.Why.UNDEFINED);
    }
    return new RationalFunction(bottom, top);
  }

  /** Whether both are the same function, wherever both are defined. */
  public boolean isSame(RationalFunction other, StepBudget budget) {
    return top.times(other.bottom, budget).equals(other.top.times(bottom, budget));
  }

  /** The polynomial that this is, if its denominator is a number. */
  public Optional<Polynomial> polynomial() {
    return bottom
        .constant()
        .map(
            number ->
                top.times(
                    Polynomial.of(Rational.ONE.over(number, new StepBudget())), new StepBudget()));
  }
}
