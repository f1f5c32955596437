package io.troupe.verifiers.math.value;

import io.troupe.verifiers.math.expr.Expr;
import io.troupe.verifiers.math.expr.Expr.Bound;
import io.troupe.verifiers.math.expr.Expr.Call;
import io.troupe.verifiers.math.expr.Expr.Constant;
import io.troupe.verifiers.math.expr.Operator;
import io.troupe.verifiers.math.expr.UnresolvedException;
import java.math.BigDecimal;
import java.math.MathContext;

/**
 * Integrals and limits to some ten digits.
 *
 * <p>An integral is a sum at the points of Takahasi and Mori's double exponential rule, for two
 * step sizes that must agree. A limit is a value very near, and one much nearer, that must agree.
 * What does not agree has no value here.
 */
final class BoundEvaluation {
  private static final BigDecimal ACCURACY = new BigDecimal("1e-9");
  private static final int DIGITS = 24;
  private static final int NEAR_DIGITS = 130;
  private static final double WIDEST = 3.2;

  private final NumericEvaluation evaluation;

  BoundEvaluation(NumericEvaluation evaluation) {
    this.evaluation = evaluation;
  }

  Ball of(Bound bound) {
    return switch (bound.kind()) {
      case INTEGRAL -> integral(bound);
      case LIMIT -> {
        int infinity = infinity(bound.bounds().get(0));
        Ball above = limit(bound, infinity == 0 ? 1 : infinity);
        if (infinity == 0) {
          requireAgreeing(above, limit(bound, -1));
        }
        yield above;
      }
      case LIMIT_FROM_ABOVE -> limit(bound, 1);
      case LIMIT_FROM_BELOW -> limit(bound, -1);
      case SUM, PRODUCT -> throw undefined();
    };
  }

  private Ball limit(Bound bound, int side) {
    NumericEvaluation near = evaluation.to(NEAR_DIGITS);
    Ball first = near(near, bound, side, 18);
    Ball second = near(near, bound, side, 36);
    return requireAgreeing(first, second);
  }

  private static Ball near(NumericEvaluation evaluation, Bound bound, int side, int digits) {
    Expr goal = bound.bounds().get(0);
    boolean infinite = infinity(goal) != 0;
    BigDecimal step = BigDecimal.ONE.scaleByPowerOfTen(infinite ? digits : -digits);
    Ball distance = Ball.exact(side > 0 ? step : step.negate());
    Ball at = infinite ? distance : evaluation.balls().add(evaluation.of(goal), distance);
    return evaluation.where(bound.body(), bound.variable(), at);
  }

  private static Ball requireAgreeing(Ball first, Ball second) {
    BigDecimal size = second.re().abs().add(second.im().abs()).max(BigDecimal.ONE);
    BigDecimal error = size.multiply(ACCURACY);
    BigDecimal distance =
        first.re().subtract(second.re()).abs().add(first.im().subtract(second.im()).abs());
    if (distance.compareTo(error) > 0) {
      throw undefined();
    }
    MathContext few = new MathContext(30);
    return new Ball(second.re().round(few), second.im().round(few), error);
  }

  private Ball integral(Bound bound) {
    if (bound.bounds().size() != 2) {
      throw undefined();
    }
    NumericEvaluation rough = evaluation.to(DIGITS);
    Ball coarse = sum(rough, bound, 0.125);
    Ball fine = sum(rough, bound, 0.0625);
    return requireAgreeing(coarse, fine);
  }

  private static Ball sum(NumericEvaluation evaluation, Bound bound, double step) {
    Expr low = bound.bounds().get(0);
    Expr high = bound.bounds().get(1);
    boolean fromInfinity = infinity(low) != 0;
    boolean toInfinity = infinity(high) != 0;
    double from = fromInfinity ? 0 : real(evaluation, low);
    double to = toInfinity ? 0 : real(evaluation, high);
    Ball total = Ball.ZERO;
    int count = (int) Math.ceil(WIDEST / step);
    for (int i = -count; i <= count; i++) {
      double t = i * step;
      double inner = Math.PI / 2 * Math.sinh(t);
      double slope = Math.PI / 2 * Math.cosh(t);
      double x;
      double weight;
      if (fromInfinity && toInfinity) {
        x = Math.sinh(inner);
        weight = slope * Math.cosh(inner);
      } else if (toInfinity || fromInfinity) {
        double size = Math.exp(inner);
        x = toInfinity ? from + size : to - size;
        weight = slope * size;
      } else {
        x = (from + to) / 2 + (to - from) / 2 * Math.tanh(inner);
        double cosh = Math.cosh(inner);
        weight = (to - from) / 2 * slope / (cosh * cosh);
      }
      boolean inside = !(x == from && !fromInfinity) && !(x == to && !toInfinity);
      if (inside && Math.abs(weight) > 1e-300 && Double.isFinite(x) && Double.isFinite(weight)) {
        total = evaluation.balls().add(total, term(evaluation, bound, x, weight * step));
      }
    }
    return total;
  }

  private static Ball term(NumericEvaluation evaluation, Bound bound, double x, double weight) {
    try {
      Ball value = evaluation.where(bound.body(), bound.variable(), exact(x));
      return evaluation.balls().multiply(value, exact(weight));
    } catch (UnresolvedException e) {
      if (e.why() == UnresolvedException.Why.TOO_LARGE && Math.abs(x) > 200) {
        return Ball.ZERO; // Where exponentials leave their range, only those that vanish converge.
      }
      throw e;
    }
  }

  private static Ball exact(double value) {
    return Ball.exact(new BigDecimal(value).round(new MathContext(18)));
  }

  private static double real(NumericEvaluation evaluation, Expr expr) {
    Ball value = evaluation.of(expr);
    if (!value.isReal()) {
      throw undefined();
    }
    return value.re().doubleValue();
  }

  private static int infinity(Expr expr) {
    return switch (expr) {
      case Constant(var name) -> name == Constant.Name.INFINITY ? 1 : 0;
      case Call(var operator, var arguments) ->
          operator == Operator.NEGATE ? -infinity(arguments.get(0)) : 0;
      default -> 0;
    };
  }

  private static UnresolvedException undefined() {
    return new UnresolvedException(UnresolvedException.Why.UNDEFINED);
  }
}
