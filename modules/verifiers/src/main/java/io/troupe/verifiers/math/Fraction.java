package io.troupe.verifiers.math;

import io.troupe.verifiers.math.Expr.Call;
import io.troupe.verifiers.math.Expr.Constant;
import io.troupe.verifiers.math.Expr.Numeral;
import io.troupe.verifiers.math.Expr.Variable;
import java.math.BigInteger;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A quotient of polynomials, in which π and e count as letters. Not reduced. */
record Fraction(Polynomial top, Polynomial bottom) {
  /** The quotient that a scalar is, if it is one and small enough to be written out. */
  static Optional<Fraction> of(Expr expr, Budget budget) {
    try {
      return read(expr, budget);
    } catch (Unresolved e) {
      if (e.why() == Unresolved.Why.TOO_LARGE && budget.left() >= 0) {
        return Optional.empty();
      }
      throw e;
    }
  }

  private static Optional<Fraction> read(Expr expr, Budget budget) {
    budget.spend(2);
    return switch (expr) {
      case Numeral(var value, _) -> Optional.of(whole(Polynomial.of(value)));
      case Variable(var name) -> Optional.of(whole(Polynomial.of(name)));
      case Constant(var name) ->
          switch (name) {
            case PI, E -> Optional.of(whole(Polynomial.of("\\" + name)));
            case I, INFINITY -> Optional.empty();
          };
      case Call(var operator, var arguments) -> call(operator, arguments, budget);
      case Expr.Listing _,
          Expr.Matrix _,
          Expr.Relation _,
          Expr.SetOperation _,
          Expr.Ratio _,
          Expr.InBase _,
          Expr.Words _ ->
          Optional.empty();
    };
  }

  private static Optional<Fraction> call(Operator operator, List<Expr> arguments, Budget budget) {
    return switch (operator) {
      case ADD, MULTIPLY -> {
        Optional<Fraction> result = read(arguments.get(0), budget);
        for (Expr argument : arguments.subList(1, arguments.size())) {
          if (result.isEmpty()) {
            break;
          }
          Fraction left = result.get();
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
          read(arguments.get(0), budget).map(f -> new Fraction(f.top.negate(), f.bottom));
      case DIVIDE ->
          read(arguments.get(0), budget)
              .flatMap(a -> read(arguments.get(1), budget).map(b -> a.times(b.inverse(), budget)));
      case POWER -> power(arguments, budget);
      case PERCENT ->
          read(arguments.get(0), budget)
              .map(f -> f.times(whole(Polynomial.of(Rational.of(1, 100))), budget));
      case ROOT,
          PLUS_OR_MINUS,
          MINUS_OR_PLUS,
          ABSOLUTE,
          FLOOR,
          CEILING,
          FACTORIAL,
          BINOMIAL,
          DEGREES,
          EXP,
          LN,
          LOG,
          LOG_BASE,
          SIN,
          COS,
          TAN,
          COT,
          SEC,
          CSC,
          ARCSIN,
          ARCCOS,
          ARCTAN,
          SINH,
          COSH,
          TANH,
          GCD,
          LCM,
          MAX,
          MIN ->
          new Exact(Map.of(), budget)
              .of(new Call(operator, arguments))
              .map(value -> whole(Polynomial.of(value)));
    };
  }

  private static Optional<Fraction> power(List<Expr> arguments, Budget budget) {
    Optional<Rational> exponent =
        new Exact(Map.of(), budget).of(arguments.get(1)).filter(Rational::isInteger);
    if (exponent.isEmpty()) {
      return Optional.empty();
    }
    BigInteger n = exponent.get().numerator();
    return read(arguments.get(0), budget)
        .map(f -> n.signum() < 0 ? f.inverse() : f)
        .map(f -> new Fraction(f.top.power(n.abs(), budget), f.bottom.power(n.abs(), budget)));
  }

  private static Fraction whole(Polynomial top) {
    return new Fraction(top, Polynomial.ONE);
  }

  private Fraction plus(Fraction other, Budget budget) {
    return bottom.equals(other.bottom)
        ? new Fraction(top.plus(other.top, budget), bottom)
        : new Fraction(
            top.times(other.bottom, budget).plus(other.top.times(bottom, budget), budget),
            bottom.times(other.bottom, budget));
  }

  private Fraction times(Fraction other, Budget budget) {
    return new Fraction(top.times(other.top, budget), bottom.times(other.bottom, budget));
  }

  private Fraction inverse() {
    if (top.isZero()) {
      throw new Unresolved(Unresolved.Why.UNDEFINED);
    }
    return new Fraction(bottom, top);
  }

  /** Whether both are the same function, wherever both are defined. */
  boolean isSame(Fraction other, Budget budget) {
    return top.times(other.bottom, budget).equals(other.top.times(bottom, budget));
  }
}
