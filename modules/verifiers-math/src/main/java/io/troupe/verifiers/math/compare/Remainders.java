package io.troupe.verifiers.math.compare;

import io.troupe.verifiers.math.expr.Expr;
import io.troupe.verifiers.math.expr.Expr.Listing;
import io.troupe.verifiers.math.expr.Expr.Relation;
import io.troupe.verifiers.math.expr.Expr.Residue;
import io.troupe.verifiers.math.expr.Expr.Sign;
import io.troupe.verifiers.math.expr.Rational;
import io.troupe.verifiers.math.expr.StepBudget;
import io.troupe.verifiers.math.value.ExactValue;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Compares congruences by their remainders: {@code x\\equiv1,4\\pmod5} and {@code \\pm1\\pmod5}.
 */
final class Remainders {
  private final AnswerComparison comparison;
  private final StepBudget budget;

  Remainders(AnswerComparison comparison, StepBudget budget) {
    this.comparison = comparison;
    this.budget = budget;
  }

  /** The one congruence that an answer is; of a list, its last part has the modulus for all. */
  static Optional<Residue> of(Expr expr) {
    if (expr instanceof Residue residue) {
      return Optional.of(residue);
    }
    if (!(expr instanceof Listing list)
        || !list.isBare()
        || !(list.items().getLast() instanceof Residue(_, var modulus))) {
      return Optional.empty();
    }
    List<Expr> values = new ArrayList<>();
    Optional<Relation> named = Optional.empty();
    for (Expr item : list.items()) {
      Expr one = item;
      if (item instanceof Residue(var value, var other)) {
        if (!other.equals(modulus)) {
          return Optional.empty();
        }
        one = value;
      }
      if (one instanceof Relation relation) {
        if (named.isPresent() && !named.get().sides().get(0).equals(relation.sides().get(0))) {
          return Optional.empty();
        }
        named = Optional.of(relation);
        one = relation.sides().getLast();
      }
      values.add(one);
    }
    Expr all = Listing.bare(values);
    return Optional.of(
        new Residue(
            named
                .<Expr>map(first -> new Relation(first.signs(), List.of(first.sides().get(0), all)))
                .orElse(all),
            modulus));
  }

  ComparisonResult compare(Residue gold, Residue answer) {
    Expr wanted = gold.value();
    Expr given = answer.value();
    Optional<Rational> n = integer(gold.modulus());
    if (n.isEmpty() || !n.equals(integer(answer.modulus()))) {
      return comparison.same(gold.modulus(), answer.modulus()).isEqual()
          ? comparison.same(wanted, given)
          : ComparisonResult.different("another modulus");
    }
    if (!isEquality(wanted) || !isEquality(given)) {
      return comparison.same(wanted, given);
    }
    String goldName = name(wanted);
    String answerName = name(given);
    if (!goldName.isEmpty() && !answerName.isEmpty() && !goldName.equals(answerName)) {
      return ComparisonResult.different("another name");
    }
    List<Rational> left = remainders(value(wanted), n.get());
    List<Rational> right = remainders(value(given), n.get());
    if (left.isEmpty() || right.isEmpty()) {
      return comparison.same(wanted, given);
    }
    return left.equals(right)
        ? ComparisonResult.equal("the same remainder modulo " + n.get())
        : ComparisonResult.different("another remainder modulo " + n.get());
  }

  private Optional<Rational> integer(Expr expr) {
    return AnswerComparison.isScalar(expr)
        ? new ExactValue(Map.of(), budget).of(expr).filter(Rational::isInteger)
        : Optional.empty();
  }

  /** Whether nothing else is said than that values are congruent. */
  private static boolean isEquality(Expr expr) {
    return !(expr instanceof Relation relation)
        || relation.signs().stream().allMatch(sign -> sign == Sign.EQUAL);
  }

  private static String name(Expr expr) {
    return expr instanceof Relation relation
        ? AnswerNames.of(relation.sides().get(0)).map(AnswerNames.Name::key).orElse("?")
        : "";
  }

  private static Expr value(Expr expr) {
    return expr instanceof Relation relation ? relation.sides().getLast() : expr;
  }

  /** The remainders of a value or of several; empty if one is no integer. */
  private List<Rational> remainders(Expr value, Rational modulus) {
    List<Expr> values = value instanceof Listing several ? several.items() : List.of(value);
    List<Rational> found = new ArrayList<>();
    for (Expr one : values) {
      Optional<Rational> known = integer(one);
      if (known.isEmpty() || modulus.signum() <= 0) {
        return List.of();
      }
      found.add(Rational.of(known.get().numerator().mod(modulus.numerator())));
    }
    Collections.sort(found);
    return found;
  }
}
