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
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The value of a scalar where its variables have values, to many digits.
 *
 * <p>Over the reals, what has no real value (an even root or a logarithm of a negative number) is
 * undefined, so that {@code \ln x^2} and {@code 2\ln x} agree wherever both are defined. Over the
 * complex numbers, functions take their principal values. Odd roots of negative real numbers are
 * real in both.
 */
public final class NumericEvaluation {
  private static final Rational HALF = Rational.of(1, 2);

  private final BallArithmetic balls;
  private final ExactValue exact;
  private final Map<String, Rational> points;
  private final Map<String, Ball> values;
  private final boolean real;
  private final boolean decimalLogarithm;
  private final StepBudget budget;

  /**
   * @param points rational values of variables; for powers and factorials they are exact
   * @param values values of all variables
   * @param real whether the evaluation is over the reals
   * @param decimalLogarithm whether a logarithm of no stated base has base ten, else e
   */
  public NumericEvaluation(
      BallArithmetic balls,
      Map<String, Rational> points,
      Map<String, Ball> values,
      boolean real,
      boolean decimalLogarithm,
      StepBudget budget) {
    this.balls = balls;
    this.exact = new ExactValue(points, budget);
    this.points = points;
    this.budget = budget;
    this.values = values;
    this.real = real;
    this.decimalLogarithm = decimalLogarithm;
  }

  public Ball of(Expr expr) {
    return switch (expr) {
      case Numeral(var value, _, _) -> balls.of(value);
      case Constant(var name) ->
          switch (name) {
            case PI -> balls.pi();
            case E -> balls.exp(Ball.ONE);
            case I -> new Ball(BigDecimal.ZERO, BigDecimal.ONE, BigDecimal.ZERO);
            case INFINITY -> throw undefined();
          };
      case Variable(var name) -> {
        Ball value = values.get(name);
        if (value == null) {
          throw undefined();
        }
        yield value;
      }
      case Call(var operator, var arguments) -> call(operator, arguments);
      case Expr.Letters(_, var product) -> of(product);
      case Expr.Bound bound -> bound(bound);
      case Expr.Structure _ -> throw undefined();
    };
  }

  private Ball bound(Expr.Bound bound) {
    Optional<Rational> known = exactly(bound);
    return known.isPresent() ? balls.of(known.get()) : new BoundEvaluation(this).of(bound);
  }

  /** The value of an expression where a variable has a value. */
  Ball where(Expr expr, String variable, Ball value) {
    Map<String, Ball> all = new HashMap<>(values);
    all.put(variable, value);
    return new NumericEvaluation(balls, points, all, real, decimalLogarithm, budget).of(expr);
  }

  /** The same evaluation to fewer or more digits. */
  NumericEvaluation to(int digits) {
    return new NumericEvaluation(
        new BallArithmetic(digits, budget), points, values, real, decimalLogarithm, budget);
  }

  BallArithmetic balls() {
    return balls;
  }

  private Ball call(Operator operator, List<Expr> arguments) {
    Expr first = arguments.get(0);
    return switch (operator) {
      case ADD -> {
        Ball sum = of(first);
        for (Expr term : arguments.subList(1, arguments.size())) {
          sum = balls.add(sum, of(term));
        }
        yield sum;
      }
      case MULTIPLY -> {
        Ball product = of(first);
        for (Expr factor : arguments.subList(1, arguments.size())) {
          product = balls.multiply(product, of(factor));
        }
        yield product;
      }
      case NEGATE -> balls.negate(of(first));
      case DIVIDE -> balls.divide(of(first), of(arguments.get(1)));
      case POWER -> power(first, arguments.get(1));
      case ROOT -> root(of(first), exactly(arguments.get(1)), arguments.get(1));
      case ABSOLUTE -> balls.absolute(of(first));
      case FLOOR -> floor(first);
      case CEILING -> balls.negate(floor(new Call(Operator.NEGATE, first)));
      case FACTORIAL -> factorial(exactly(first).orElseThrow(() -> inexact(arguments)));
      case DOUBLE_FACTORIAL ->
          balls.of(exactly(new Call(operator, arguments)).orElseThrow(() -> inexact(arguments)));
      case CONJUGATE -> {
        Ball x = of(first);
        yield new Ball(x.re(), x.im().negate(), x.error());
      }
      case CIS -> {
        Ball x = of(first);
        Ball i = new Ball(BigDecimal.ZERO, BigDecimal.ONE, BigDecimal.ZERO);
        yield balls.add(balls.cos(x), balls.multiply(i, balls.sin(x)));
      }
      case DEGREES ->
          balls.divide(balls.multiply(of(first), balls.pi()), balls.of(Rational.of(180)));
      case PERCENT -> balls.divide(of(first), balls.of(Rational.of(100)));
      case EXP -> balls.exp(of(first));
      case LN -> ln(of(first));
      case LOG -> {
        Ball log = ln(of(first));
        yield decimalLogarithm ? balls.divide(log, balls.ln(balls.of(Rational.of(10)))) : log;
      }
      case LOG_BASE -> balls.divide(ln(of(arguments.get(1))), ln(of(first)));
      case SIN -> balls.sin(of(first));
      case COS -> balls.cos(of(first));
      case TAN -> {
        Ball x = of(first);
        yield balls.divide(balls.sin(x), balls.cos(x));
      }
      case COT -> {
        Ball x = of(first);
        yield balls.divide(balls.cos(x), balls.sin(x));
      }
      case SEC -> balls.divide(Ball.ONE, balls.cos(of(first)));
      case CSC -> balls.divide(Ball.ONE, balls.sin(of(first)));
      case ARCSIN -> balls.arcsin(inUnit(of(first)));
      case ARCCOS -> balls.arccos(inUnit(of(first)));
      case ARCTAN -> balls.arctan(of(first));
      case SINH -> hyperbolic(of(first), false);
      case COSH -> hyperbolic(of(first), true);
      case TANH -> {
        Ball x = of(first);
        yield balls.divide(hyperbolic(x, false), hyperbolic(x, true));
      }
      case ARSINH -> {
        Ball x = of(first);
        Ball one = balls.add(balls.multiply(x, x), Ball.ONE);
        yield ln(balls.add(x, squareRoot(one)));
      }
      case ARCOSH -> {
        Ball x = of(first);
        Ball less = balls.add(balls.multiply(x, x), balls.negate(Ball.ONE));
        yield ln(balls.add(positiveIfReal(x), squareRoot(less)));
      }
      case ARTANH -> {
        Ball x = of(first);
        Ball quotient = balls.divide(balls.add(Ball.ONE, x), balls.add(Ball.ONE, balls.negate(x)));
        yield balls.multiply(ln(quotient), balls.of(HALF));
      }
      case BINOMIAL, GCD, LCM ->
          balls.of(exactly(new Call(operator, arguments)).orElseThrow(() -> inexact(arguments)));
      case MAX, MIN -> extreme(arguments, operator == Operator.MAX);
      case PLUS_OR_MINUS, MINUS_OR_PLUS -> throw undefined();
    };
  }

  private Optional<Rational> exactly(Expr expr) {
    return exact.of(expr);
  }

  private Ball power(Expr base, Expr exponent) {
    Optional<Rational> known = exactly(exponent);
    if (base instanceof Constant(var name) && name == Constant.Name.E && known.isEmpty()) {
      return balls.exp(of(exponent));
    }
    Ball x = of(base);
    if (known.isEmpty()) {
      return balls.exp(balls.multiply(ln(positiveIfReal(x)), of(exponent)));
    }
    Rational power = known.get();
    if (power.isInteger()) {
      if (x.isExactZero() && power.signum() < 0) {
        throw undefined();
      }
      return balls.power(x, power.numerator());
    }
    if (x.isExactZero()) {
      if (power.signum() < 0) {
        throw undefined();
      }
      return Ball.ZERO;
    }
    if (power.equals(HALF)) {
      return squareRoot(x);
    }
    boolean odd = power.denominator().testBit(0);
    if (x.isReal() && x.re().signum() < 0 && odd) {
      Ball size = raised(balls.negate(x), power);
      return power.numerator().testBit(0) ? balls.negate(size) : size;
    }
    return raised(positiveIfReal(x), power);
  }

  private Ball raised(Ball base, Rational power) {
    return balls.exp(balls.multiply(balls.ln(base), balls.of(power)));
  }

  private Ball root(Ball radicand, Optional<Rational> degree, Expr written) {
    if (degree.isEmpty()) {
      return balls.exp(balls.divide(ln(positiveIfReal(radicand)), of(written)));
    }
    Rational n = degree.get();
    if (!n.isInteger() || n.signum() <= 0) {
      throw undefined();
    }
    if (radicand.isExactZero()) {
      return Ball.ZERO;
    }
    if (n.numerator().equals(BigInteger.TWO)) {
      return squareRoot(radicand);
    }
    boolean odd = n.numerator().testBit(0);
    Rational power = new Rational(BigInteger.ONE, n.numerator());
    if (radicand.isReal() && radicand.re().signum() < 0 && odd) {
      return balls.negate(raised(balls.negate(radicand), power));
    }
    return raised(positiveIfReal(radicand), power);
  }

  private Ball squareRoot(Ball x) {
    boolean nearZero = x.re().abs().compareTo(x.error()) <= 0;
    return balls.sqrt(nearZero ? x : positiveIfReal(x));
  }

  private Ball ln(Ball x) {
    return balls.ln(positiveIfReal(x));
  }

  /** Returns a positive ball; over the reals, a value that would be complex is undefined. */
  private Ball positiveIfReal(Ball x) {
    if (real && (!x.isReal() || x.re().signum() < 0)) {
      throw undefined();
    }
    return x;
  }

  private Ball inUnit(Ball x) {
    if (real && (!x.isReal() || x.re().abs().compareTo(BigDecimal.ONE) > 0)) {
      throw undefined();
    }
    return x;
  }

  private Ball floor(Expr argument) {
    Optional<Rational> known = exactly(argument);
    if (known.isPresent()) {
      return balls.of(Rational.of(known.get().floor()));
    }
    Ball x = of(argument);
    if (!x.isReal() || balls.magnitude(x).compareTo(BigDecimal.valueOf(1, -30)) > 0) {
      throw undefined();
    }
    BigDecimal low = x.re().subtract(x.error()).setScale(0, RoundingMode.FLOOR);
    BigDecimal high = x.re().add(x.error()).setScale(0, RoundingMode.FLOOR);
    if (low.compareTo(high) != 0) {
      throw undefined();
    }
    return balls.of(Rational.of(low.toBigIntegerExact()));
  }

  /** A factorial too long to be written out, to as many digits as all values. */
  private Ball factorial(Rational n) {
    if (!n.isInteger() || n.signum() < 0) {
      throw undefined();
    }
    if (n.numerator().bitLength() > 13) {
      throw new UnresolvedException(UnresolvedException.Why.TOO_LARGE);
    }
    Ball product = Ball.ONE;
    for (int k = 2; k <= n.numerator().intValue(); k++) {
      product = balls.multiply(product, Ball.exact(BigDecimal.valueOf(k)));
    }
    return product;
  }

  private Ball hyperbolic(Ball x, boolean cosine) {
    Ball up = balls.exp(x);
    Ball down = balls.exp(balls.negate(x));
    return balls.multiply(balls.add(up, cosine ? down : balls.negate(down)), balls.of(HALF));
  }

  private Ball extreme(List<Expr> arguments, boolean greatest) {
    Ball best = of(arguments.get(0));
    for (Expr argument : arguments.subList(1, arguments.size())) {
      Ball x = of(argument);
      if (!x.isReal() || !best.isReal()) {
        throw undefined();
      }
      best = (x.re().compareTo(best.re()) > 0) == greatest ? x : best;
    }
    return best;
  }

  /**
   * Returns the reason why there is no exact value: the arguments are too large, or they have none
   * or too large a value.
   */
  private UnresolvedException inexact(List<Expr> arguments) {
    boolean exact = true;
    for (Expr argument : arguments) {
      of(argument);
      exact &= exactly(argument).isPresent();
    }
    return exact ? new UnresolvedException(UnresolvedException.Why.TOO_LARGE) : undefined();
  }

  private static UnresolvedException undefined() {
    return new UnresolvedException(UnresolvedException.Why.UNDEFINED);
  }
}
