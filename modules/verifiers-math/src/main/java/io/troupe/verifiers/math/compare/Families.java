package io.troupe.verifiers.math.compare;

import io.troupe.verifiers.math.expr.Expr;
import io.troupe.verifiers.math.expr.Expr.Call;
import io.troupe.verifiers.math.expr.Expr.Listing;
import io.troupe.verifiers.math.expr.Expr.Numeral;
import io.troupe.verifiers.math.expr.Expr.Relation;
import io.troupe.verifiers.math.expr.Expr.Sign;
import io.troupe.verifiers.math.expr.Expr.Variable;
import io.troupe.verifiers.math.expr.Operator;
import io.troupe.verifiers.math.expr.StepBudget;
import io.troupe.verifiers.math.expr.UnresolvedException;
import io.troupe.verifiers.math.value.Ball;
import io.troupe.verifiers.math.value.BallArithmetic;
import io.troupe.verifiers.math.value.NumericEvaluation;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Compares answers for every integer, such as {@code \frac{\pi}{4}+k\pi} with {@code
 * k\in\mathbb{Z}}: the integer may have another name, and a progression may begin elsewhere.
 */
final class Families {
  private static final Set<String> INTEGERS = Set.of("k", "n", "m", "l", "j", "N", "K");

  private final ScalarComparison scalars;
  private final StepBudget budget;

  Families(ScalarComparison scalars, StepBudget budget) {
    this.scalars = scalars;
    this.budget = budget;
  }

  /**
   * Values for every integer.
   *
   * @param name of the unknown; empty if it has none
   * @param domain of the integer; empty if it is not said
   */
  private record Family(String name, List<Expr> values, String integer, String domain) {}

  /** Empty if the gold is no family. */
  Optional<ComparisonResult> compare(Expr gold, Expr answer) {
    Optional<Family> left = family(gold).filter(family -> !family.domain.isEmpty());
    if (left.isEmpty()) {
      return Optional.empty();
    }
    Optional<Family> right = family(answer);
    return Optional.of(
        right.isPresent() && isSame(left.get(), right.get())
            ? ComparisonResult.equal("the same values for every integer")
            : ComparisonResult.different("other values for the integers"));
  }

  private static Optional<Family> family(Expr expr) {
    List<Expr> items =
        new ArrayList<>(
            expr instanceof Listing list && list.isBare() ? list.items() : List.of(expr));
    String domain = "";
    String integer = "";
    if (items.getLast() instanceof Relation relation
        && relation.is(Sign.IN)
        && relation.sides().get(0) instanceof Variable(var letter)
        && relation.sides().get(1) instanceof Variable(var set)
        && items.size() > 1) {
      domain = set.replace("\\mathbb", "");
      integer = letter;
      items.removeLast();
      if (!Set.of("Z", "N").contains(domain)) {
        return Optional.empty();
      }
    }
    Set<String> names = new TreeSet<>();
    List<Expr> values = new ArrayList<>();
    for (Expr item : items) {
      Expr value = item;
      if (item instanceof Relation relation && relation.is(Sign.EQUAL)) {
        names.add(AnswerNames.of(relation.sides().get(0)).map(AnswerNames.Name::key).orElse("?"));
        value = relation.sides().get(1);
      }
      value = RealSetReader.withoutUnits(value);
      Set<String> letters = Expr.variables(value);
      if (!AnswerComparison.isScalar(value) || letters.size() != 1) {
        return Optional.empty();
      }
      String letter = letters.iterator().next();
      if (!integer.isEmpty() ? !integer.equals(letter) : !INTEGERS.contains(letter)) {
        return Optional.empty();
      }
      integer = letter;
      values.add(value);
    }
    return names.size() <= 1 && !names.contains("?") && !values.isEmpty()
        ? Optional.of(new Family(String.join("", names), values, integer, domain))
        : Optional.empty();
  }

  private boolean isSame(Family gold, Family answer) {
    boolean named = !gold.name.isEmpty() && !answer.name.isEmpty();
    boolean said = !answer.domain.isEmpty();
    if ((named && !gold.name.equals(answer.name))
        || (said && !gold.domain.equals(answer.domain))
        || gold.values.size() != answer.values.size()) {
      return false;
    }
    List<Expr> left = new ArrayList<>(answer.values);
    for (Expr wanted : gold.values) {
      if (left.stream().noneMatch(value -> isSame(gold, wanted, answer, value))) {
        return false;
      }
      left.remove(
          left.stream()
              .filter(value -> isSame(gold, wanted, answer, value))
              .findFirst()
              .orElseThrow());
    }
    return true;
  }

  private boolean isSame(Family gold, Expr wanted, Family answer, Expr value) {
    Expr renamed = Expr.renamed(value, answer.integer, gold.integer);
    if (scalars.compare(wanted, renamed).isEqual()) {
      return true;
    }
    if (gold.domain.equals("N")) {
      return false;
    }
    Expr step = step(wanted, gold.integer, 0);
    Expr otherStep = step(value, answer.integer, 0);
    boolean progressions =
        scalars.compare(step, step(wanted, gold.integer, 1)).isEqual()
            && scalars.compare(otherStep, step(value, answer.integer, 1)).isEqual();
    boolean steps =
        scalars.compare(step, otherStep).isEqual()
            || scalars.compare(step, new Call(Operator.NEGATE, otherStep)).isEqual();
    return progressions
        && steps
        && isWhole(
            new Call(
                Operator.DIVIDE,
                difference(at(wanted, gold.integer, 0), at(value, answer.integer, 0)),
                step));
  }

  private static Expr at(Expr value, String integer, long k) {
    return substituted(value, integer, Numeral.of(k));
  }

  private static Expr substituted(Expr expr, String name, Expr value) {
    return expr.equals(new Variable(name))
        ? value
        : Expr.map(expr, part -> substituted(part, name, value));
  }

  private static Expr step(Expr value, String integer, long k) {
    return difference(at(value, integer, k + 1), at(value, integer, k));
  }

  private static Expr difference(Expr a, Expr b) {
    return new Call(Operator.ADD, a, new Call(Operator.NEGATE, b));
  }

  private boolean isWhole(Expr quotient) {
    try {
      BallArithmetic balls = new BallArithmetic(60, budget);
      Ball value =
          new NumericEvaluation(balls, Map.of(), Map.of(), false, false, budget).of(quotient);
      long nearest = value.re().setScale(0, RoundingMode.HALF_EVEN).longValueExact();
      return scalars.compare(Numeral.of(nearest), quotient).isEqual();
    } catch (ArithmeticException _) {
      return false;
    } catch (UnresolvedException e) {
      if (budget.left() < 0) {
        throw e;
      }
      return false;
    }
  }
}
