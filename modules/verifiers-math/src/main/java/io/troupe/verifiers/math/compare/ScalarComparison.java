package io.troupe.verifiers.math.compare;

import io.troupe.verifiers.math.expr.Expr;
import io.troupe.verifiers.math.expr.Expr.Bound;
import io.troupe.verifiers.math.expr.Expr.Call;
import io.troupe.verifiers.math.expr.Expr.Constant;
import io.troupe.verifiers.math.expr.Expr.Numeral;
import io.troupe.verifiers.math.expr.Expr.Variable;
import io.troupe.verifiers.math.expr.Operator;
import io.troupe.verifiers.math.expr.Rational;
import io.troupe.verifiers.math.expr.StepBudget;
import io.troupe.verifiers.math.expr.UnresolvedException;
import io.troupe.verifiers.math.value.Ball;
import io.troupe.verifiers.math.value.BallArithmetic;
import io.troupe.verifiers.math.value.ExactValue;
import io.troupe.verifiers.math.value.NumericEvaluation;
import io.troupe.verifiers.math.value.RationalFunction;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;

/**
 * Compares two scalars: exactly if both are fractions or quotients of polynomials; a rounded
 * decimal by {@link Rounding}; other numbers to fifty digits and, if these do not distinguish them
 * apart, to more; expressions with variables at points.
 */
final class ScalarComparison {
  /** Digits of the first evaluation, and of the one that decides what it cannot. */
  private static final int DIGITS = 50;

  private static final int MORE_DIGITS = 130;

  /** The digits in which exact values must agree: evaluation has twenty digits to spare. */
  private static final int AGREEING_DIGITS = 30;

  private static final int FEWEST_POINTS = 5;
  private static final Expr UNIT_I = new Constant(Constant.Name.I);

  private final StepBudget budget;

  ScalarComparison(StepBudget budget) {
    this.budget = budget;
  }

  ComparisonResult compare(Expr gold, Expr answer) {
    if (gold.equals(answer)) {
      return ComparisonResult.equal("the same form");
    }
    if (gold instanceof Expr.Letters left && answer instanceof Expr.Letters right) {
      return LetterOrder.isSame(left.run(), right.run())
          ? ComparisonResult.equal("the same letters")
          : ComparisonResult.different("letters in another order");
    }
    if (gold instanceof Bound left && answer instanceof Bound right && isSameForm(left, right)) {
      return ComparisonResult.equal("the same form, but for the bound variable");
    }
    return values(gold, withUnitI(gold, answer));
  }

  /** Engineers write j for i; it is one where the gold answer has an i and no j. */
  private static Expr withUnitI(Expr gold, Expr answer) {
    Set<String> names = Expr.variables(answer);
    boolean other = names.equals(Set.of("j")) && !Expr.variables(gold).contains("j");
    return other && hasI(gold) && !hasI(answer) ? replacedJ(answer) : answer;
  }

  private static boolean hasI(Expr expr) {
    return expr.equals(UNIT_I) || Expr.parts(expr).stream().anyMatch(ScalarComparison::hasI);
  }

  private static Expr replacedJ(Expr expr) {
    return expr.equals(new Variable("j")) ? UNIT_I : Expr.map(expr, ScalarComparison::replacedJ);
  }

  private boolean isSameForm(Bound gold, Bound answer) {
    if (gold.kind() != answer.kind() || gold.bounds().size() != answer.bounds().size()) {
      return false;
    }
    for (int i = 0; i < gold.bounds().size(); i++) {
      if (!compare(gold.bounds().get(i), answer.bounds().get(i)).isEqual()) {
        return false;
      }
    }
    boolean free =
        gold.variable().equals(answer.variable())
            || !Expr.variables(answer.body()).contains(gold.variable());
    return free
        && compare(gold.body(), Expr.renamed(answer.body(), answer.variable(), gold.variable()))
            .isEqual();
  }

  private ComparisonResult values(Expr gold, Expr answer) {
    Optional<ComparisonResult> infinite = infinite(gold, answer);
    if (infinite.isPresent()) {
      return infinite.get();
    }
    Optional<Rational> goldValue = exact(gold);
    Optional<Rational> answerValue = exact(answer);
    if (goldValue.isPresent() && answerValue.isPresent()) {
      return rationals(gold, goldValue.get(), answer, answerValue.get());
    }
    Set<String> goldNames = names(gold);
    Set<String> answerNames = names(answer);
    if (goldNames.isEmpty() && answerNames.isEmpty()) {
      return numbers(gold, answer);
    }
    Expr renamed =
        goldNames.equals(answerNames)
            ? answer
            : renamed(goldNames, answerNames, answer).orElse(answer);
    Set<String> all = new TreeSet<>(goldNames);
    all.addAll(names(renamed));
    return expressions(gold, renamed, all);
  }

  private Optional<Rational> exact(Expr expr) {
    return new ExactValue(Map.of(), budget).of(expr);
  }

  private static Set<String> names(Expr expr) {
    return Expr.variables(expr);
  }

  private static Optional<ComparisonResult> infinite(Expr gold, Expr answer) {
    int goldSign = infinity(gold);
    int answerSign = infinity(answer);
    if (goldSign == 0 && answerSign == 0) {
      return Optional.empty();
    }
    return Optional.of(
        goldSign == answerSign
            ? ComparisonResult.equal("both infinite")
            : ComparisonResult.different("infinite and not the same"));
  }

  private static int infinity(Expr expr) {
    return switch (expr) {
      case Constant(var name) -> name == Constant.Name.INFINITY ? 1 : 0;
      case Call(var operator, var arguments) ->
          operator == Operator.NEGATE ? -infinity(arguments.get(0)) : 0;
      default -> 0;
    };
  }

  private ComparisonResult rationals(
      Expr gold, Rational goldValue, Expr answer, Rational answerValue) {
    if (goldValue.equals(answerValue)) {
      return ComparisonResult.equal("equal as rationals: %s".formatted(goldValue));
    }
    MathContext digits = new MathContext(2_100);
    boolean rounded = Rounding.of(gold).isPresent() || Rounding.of(answer).isPresent();
    boolean small =
        goldValue.numerator().bitLength() < 6_000 && answerValue.numerator().bitLength() < 6_000;
    if (rounded
        && small
        && Rounding.isSame(
            gold, goldValue.toDecimal(digits), answer, answerValue.toDecimal(digits))) {
      return ComparisonResult.equal(
          "equal as rounded: %s and %s".formatted(goldValue, answerValue));
    }
    return ComparisonResult.different(
        "different rationals: %s and %s".formatted(goldValue, answerValue));
  }

  private ComparisonResult numbers(Expr gold, Expr answer) {
    BallArithmetic balls = new BallArithmetic(DIGITS + 10, budget);
    ComparisonResult natural = numbers(balls, gold, answer, false);
    if (natural.isEqual() || (!hasLog(gold) && !hasLog(answer))) {
      return natural;
    }
    return numbers(balls, gold, answer, true);
  }

  private ComparisonResult numbers(
      BallArithmetic balls, Expr gold, Expr answer, boolean decimalLog) {
    Ball a = value(balls, gold, decimalLog);
    Ball b = value(balls, answer, decimalLog);
    boolean rounded = Rounding.of(gold).isPresent() || Rounding.of(answer).isPresent();
    if (rounded && !balls.isClose(a, b, AGREEING_DIGITS)) {
      return a.isReal() && b.isReal() && Rounding.isSame(gold, a.re(), answer, b.re())
          ? ComparisonResult.equal("equal as rounded: %s".formatted(shown(b)))
          : ComparisonResult.different(
              "different numbers: %s and %s".formatted(shown(a), shown(b)));
    }
    if (!balls.isClose(a, b, AGREEING_DIGITS)) {
      return ComparisonResult.different(
          "different numbers: %s and %s".formatted(shown(a), shown(b)));
    }
    if (balls.isVague(a, AGREEING_DIGITS) || balls.isVague(b, AGREEING_DIGITS)) {
      BallArithmetic more = new BallArithmetic(MORE_DIGITS + 10, budget);
      if (!more.isClose(
          value(more, gold, decimalLog), value(more, answer, decimalLog), AGREEING_DIGITS)) {
        return ComparisonResult.different(
            "different numbers: %s and %s".formatted(shown(a), shown(b)));
      }
    }
    return ComparisonResult.equal("equal to fifty digits: %s".formatted(shown(a)));
  }

  private Ball value(BallArithmetic balls, Expr expr, boolean decimalLog) {
    return new NumericEvaluation(balls, Map.of(), Map.of(), false, decimalLog, budget).of(expr);
  }

  private static String shown(Ball value) {
    MathContext few = new MathContext(8);
    String re = value.re().round(few).toString();
    return value.isReal()
        ? re
        : "%s%s%si".formatted(re, value.im().signum() < 0 ? "-" : "+", value.im().abs().round(few));
  }

  /** The answer with its variables' letters in the gold's case, if that maps one to one. */
  private static Optional<Expr> renamed(Set<String> gold, Set<String> answer, Expr expr) {
    Map<String, String> byLower = new HashMap<>();
    gold.forEach(name -> byLower.put(name.toLowerCase(Locale.ROOT), name));
    Set<String> reached = new TreeSet<>();
    for (String name : answer) {
      String target = byLower.get(name.toLowerCase(Locale.ROOT));
      if (target == null || !reached.add(target)) {
        return Optional.empty();
      }
    }
    return reached.equals(gold) && byLower.size() == gold.size()
        ? Optional.of(rename(expr, byLower))
        : Optional.empty();
  }

  private static Expr rename(Expr expr, Map<String, String> byLower) {
    return switch (expr) {
      case Variable(var name) ->
          new Variable(byLower.getOrDefault(name.toLowerCase(Locale.ROOT), name));
      default -> Expr.map(expr, part -> rename(part, byLower));
    };
  }

  private ComparisonResult expressions(Expr gold, Expr answer, Set<String> names) {
    Optional<RationalFunction> goldFraction = RationalFunction.of(gold, budget);
    Optional<RationalFunction> answerFraction = RationalFunction.of(answer, budget);
    if (goldFraction.isPresent() && answerFraction.isPresent()) {
      return goldFraction.get().isSame(answerFraction.get(), budget)
          ? ComparisonResult.equal("equal as polynomials or their quotients")
          : ComparisonResult.different("different polynomials or quotients");
    }
    ComparisonResult natural = probe(gold, answer, names, false);
    if (natural.isEqual() || (!hasLog(gold) && !hasLog(answer))) {
      return natural;
    }
    return probe(gold, answer, names, true);
  }

  /** Compares at points; see {@link Probe}. */
  private ComparisonResult probe(Expr gold, Expr answer, Set<String> names, boolean decimalLog) {
    boolean complex = !isBranched(gold) && !isBranched(answer);
    int valid = 0;
    for (Probe probe : Probe.points(names, complex)) {
      BallArithmetic balls = new BallArithmetic(DIGITS + 10, budget);
      try {
        NumericEvaluation evaluation = probe.evaluation(balls, decimalLog, budget);
        if (!balls.isClose(evaluation.of(gold), evaluation.of(answer), AGREEING_DIGITS)) {
          return ComparisonResult.different("different where " + probe);
        }
        valid++;
      } catch (UnresolvedException e) {
        if (e.why() != UnresolvedException.Why.UNDEFINED && budget.left() < 0) {
          throw e;
        }
      }
    }
    return valid >= FEWEST_POINTS
        ? ComparisonResult.equal("equal at %d points".formatted(valid))
        : ComparisonResult.different("comparable at %d points only".formatted(valid));
  }

  /** The quotient of two expressions, if it is one constant wherever both are defined. */
  Optional<Ball> constantRatio(Expr a, Expr b, BallArithmetic balls) {
    Set<String> names = new TreeSet<>(names(a));
    names.addAll(names(b));
    Optional<Ball> ratio = Optional.empty();
    int valid = 0;
    for (Probe probe : Probe.points(names, false)) {
      try {
        NumericEvaluation evaluation = probe.evaluation(balls, false, budget);
        Ball quotient = balls.divide(evaluation.of(a), evaluation.of(b));
        if (ratio.isPresent() && !balls.isClose(ratio.get(), quotient, AGREEING_DIGITS)) {
          return Optional.empty();
        }
        ratio = Optional.of(quotient);
        valid++;
      } catch (UnresolvedException e) {
        if (e.why() != UnresolvedException.Why.UNDEFINED && budget.left() < 0) {
          throw e;
        }
      }
    }
    return valid >= FEWEST_POINTS
            && balls.magnitude(ratio.orElseThrow()).compareTo(new BigDecimal("1e-20")) > 0
        ? ratio
        : Optional.empty();
  }

  private static boolean hasLog(Expr expr) {
    boolean log = expr instanceof Call(var operator, _) && operator == Operator.LOG;
    return log || Expr.parts(expr).stream().anyMatch(ScalarComparison::hasLog);
  }

  private static boolean isBranched(Expr expr) {
    boolean branched =
        expr instanceof Bound
            || (expr instanceof Call(var operator, var arguments)
                && (operator.isBranched()
                    || (operator == Operator.POWER && !isInteger(arguments.get(1)))));
    return branched || Expr.parts(expr).stream().anyMatch(ScalarComparison::isBranched);
  }

  private static boolean isInteger(Expr expr) {
    return switch (expr) {
      case Numeral(var value, _, _) -> value.isInteger();
      case Call(var operator, var arguments) ->
          operator == Operator.NEGATE && isInteger(arguments.get(0));
      default -> false;
    };
  }

  /** The points of comparison: the same points for the same names, always. */
  record Probe(Map<String, Rational> real, Map<String, Rational> imaginary) {
    private static final int FRACTIONS = 6;
    private static final int NEGATIVES = 4;
    private static final int INTEGERS = 6;
    private static final int COMPLEX = 4;

    /**
     * Positive fractions, negative fractions, small positive integers, for what is defined at
     * integers only, and complex points if wanted.
     */
    static List<Probe> points(Set<String> names, boolean complex) {
      Random random = new Random(20_251_121);
      List<Probe> points = new java.util.ArrayList<>();
      for (int i = 0; i < FRACTIONS + NEGATIVES + INTEGERS + (complex ? COMPLEX : 0); i++) {
        Map<String, Rational> real = new HashMap<>();
        Map<String, Rational> imaginary = new HashMap<>();
        for (String name : names) {
          Rational fraction = Rational.of(1 + random.nextInt(4_000), 997 + random.nextInt(50));
          if (i < FRACTIONS) {
            real.put(name, fraction);
          } else if (i < FRACTIONS + NEGATIVES) {
            real.put(name, fraction.negate());
          } else if (i < FRACTIONS + NEGATIVES + INTEGERS) {
            real.put(name, Rational.of(1 + random.nextInt(9)));
          } else {
            real.put(name, random.nextBoolean() ? fraction : fraction.negate());
            imaginary.put(name, Rational.of(1 + random.nextInt(900), 499));
          }
        }
        points.add(new Probe(real, imaginary));
      }
      return points;
    }

    NumericEvaluation evaluation(BallArithmetic balls, boolean decimalLog, StepBudget budget) {
      Map<String, Ball> values = new HashMap<>();
      real.forEach(
          (name, value) -> {
            Ball re = balls.of(value);
            Rational im = imaginary.getOrDefault(name, Rational.ZERO);
            values.put(
                name, new Ball(re.re(), balls.of(im).re(), re.error().max(balls.of(im).error())));
          });
      boolean isReal = imaginary.isEmpty();
      return new NumericEvaluation(
          balls, isReal ? real : Map.of(), values, isReal, decimalLog, budget);
    }

    @Override
    public String toString() {
      StringBuilder text = new StringBuilder();
      new java.util.TreeMap<>(real)
          .forEach(
              (name, value) ->
                  text.append(text.isEmpty() ? "" : ", ")
                      .append(name)
                      .append(" = ")
                      .append(value)
                      .append(
                          imaginary.containsKey(name) ? " + " + imaginary.get(name) + "i" : ""));
      return text.toString();
    }
  }
}
