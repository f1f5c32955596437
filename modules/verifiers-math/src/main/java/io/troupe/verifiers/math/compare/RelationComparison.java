package io.troupe.verifiers.math.compare;

import io.troupe.verifiers.math.compare.AnswerNames.Name;
import io.troupe.verifiers.math.expr.Expr;
import io.troupe.verifiers.math.expr.Expr.Call;
import io.troupe.verifiers.math.expr.Expr.Joined;
import io.troupe.verifiers.math.expr.Expr.Listing;
import io.troupe.verifiers.math.expr.Expr.Relation;
import io.troupe.verifiers.math.expr.Expr.Sign;
import io.troupe.verifiers.math.expr.Expr.Variable;
import io.troupe.verifiers.math.expr.Operator;
import io.troupe.verifiers.math.expr.StepBudget;
import io.troupe.verifiers.math.value.BallArithmetic;
import io.troupe.verifiers.math.value.Polynomial;
import io.troupe.verifiers.math.value.RationalFunction;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Compares equations and inequalities, and takes the name off an answer that has one: {@code x=5}
 * and 5.
 *
 * <p>Both sides are brought to one; then equations are the same up to a factor that is not zero,
 * and inequalities up to a positive one. Inequalities in one variable also equal the set of their
 * solutions.
 */
final class RelationComparison {
  private final AnswerComparison comparison;
  private final ScalarComparison scalars;
  private final StepBudget budget;

  RelationComparison(AnswerComparison comparison, ScalarComparison scalars, StepBudget budget) {
    this.comparison = comparison;
    this.scalars = scalars;
    this.budget = budget;
  }

  /** Compares where at least one is a relation. */
  ComparisonResult compare(Expr gold, Expr answer) {
    Expr left = exactPart(gold);
    Expr right = exactPart(answer);
    if (left instanceof Relation a && right instanceof Relation b) {
      return both(a, b);
    }
    if (left instanceof Relation relation) {
      return one(relation, right, false);
    }
    return right instanceof Relation relation
        ? one(relation, left, true)
        : comparison.same(left, right);
  }

  /** Returns the expression before a sign of approximation, unless that is only a name. */
  private static Expr exactPart(Expr expr) {
    if (!(expr instanceof Relation(var signs, var sides))) {
      return expr;
    }
    int approximate = signs.indexOf(Sign.APPROXIMATELY);
    if (approximate < 0) {
      return expr;
    }
    if (approximate == 0) {
      return isName(sides.get(0))
          ? new Relation(List.of(Sign.EQUAL), sides.subList(0, 2))
          : sides.get(0);
    }
    return new Relation(signs.subList(0, approximate), sides.subList(0, approximate + 1));
  }

  private ComparisonResult one(Relation relation, Expr other, boolean relationIsAnswer) {
    if (relation.is(Sign.IN)) {
      return !isName(relation.sides().get(0))
          ? ComparisonResult.different("what is in the set is no name")
          : pair(relation.sides().get(1), other, relationIsAnswer);
    }
    Optional<Expr> counted = counted(relation);
    if (counted.isPresent() && AnswerComparison.isScalar(other)) {
      return pair(counted.get(), other, relationIsAnswer);
    }
    if (relation.signs().stream().allMatch(sign -> sign == Sign.EQUAL)) {
      int from = isName(relation.sides().get(0)) ? 1 : 0;
      ComparisonResult same = ComparisonResult.different("an equation where a value is expected");
      int last = relation.sides().size() - 1;
      boolean namedLast = from == 0 && isName(relation.sides().get(last));
      for (Expr side : relation.sides().subList(from, namedLast ? last : last + 1)) {
        same = pair(side, other, relationIsAnswer);
        if (!same.isEqual()) {
          return same;
        }
      }
      ComparisonResult sets =
          relationIsAnswer
              ? comparison.asSets(other, relation)
              : comparison.asSets(relation, other);
      return same.isEqual() || !sets.isEqual() ? same : sets;
    }
    return relationIsAnswer
        ? comparison.asSets(other, relation)
        : comparison.asSets(relation, other);
  }

  /** {@code C(10,4)} looks like a point, and is a binomial coefficient where a number is asked. */
  private static Optional<Expr> counted(Relation relation) {
    boolean chosen =
        relation.is(Sign.EQUAL)
            && relation.sides().get(0).equals(new Variable("C"))
            && relation.sides().get(1) instanceof Listing pair
            && pair.isTuple()
            && pair.items().size() == 2
            && pair.items().stream().allMatch(Expr.Numeral.class::isInstance);
    return chosen
        ? Optional.of(new Call(Operator.BINOMIAL, ((Listing) relation.sides().get(1)).items()))
        : Optional.empty();
  }

  private ComparisonResult pair(Expr side, Expr other, boolean sideIsAnswer) {
    return sideIsAnswer ? comparison.same(other, side) : comparison.same(side, other);
  }

  private static boolean isName(Expr expr) {
    return AnswerNames.of(expr).isPresent();
  }

  /** Whether "and" is in one where "or" is in the other, and this makes a difference. */
  boolean differInJoint(Listing gold, Listing answer) {
    boolean other =
        gold.joined() != answer.joined()
            && (gold.joined() == Joined.OR || answer.joined() == Joined.OR);
    return other && (hasOrder(gold) || hasOrder(answer));
  }

  private static boolean hasOrder(Listing listing) {
    if (listing.items().stream().allMatch(Variable.class::isInstance)) {
      return true;
    }
    Set<String> names = new TreeSet<>();
    for (Expr item : listing.items()) {
      if (item instanceof Relation relation) {
        names.add(relation.sides().get(0).toString());
        if (relation.signs().stream().anyMatch(Sign::isOrder)) {
          return true;
        }
      }
    }
    return names.size() > 1;
  }

  private ComparisonResult both(Relation gold, Relation answer) {
    Optional<Relation> named = assignment(shortened(gold));
    if (named.isPresent()) {
      Optional<Relation> other = assignment(shortened(answer));
      if (other.isPresent()) {
        Optional<ComparisonResult> values = values(named.get(), other.get());
        if (values.isPresent()) {
          return values.get();
        }
      }
      if (AnswerComparison.isScalar(named.get().sides().get(1))
          && isConstant(named.get().sides().get(1))) {
        return ComparisonResult.different("another name, or an equation that is not solved");
      }
    }
    if (gold.signs().size() == 1 && answer.signs().size() == 1) {
      return single(gold, answer);
    }
    ComparisonResult chain = chains(gold, answer);
    return chain.isEqual() ? chain : comparison.asSets(gold, answer);
  }

  /** Compares what has the same name; a parameter may be called otherwise. */
  private Optional<ComparisonResult> values(Relation gold, Relation answer) {
    Name wanted = AnswerNames.of(gold.sides().get(0)).orElseThrow();
    Name given = AnswerNames.of(answer.sides().get(0)).orElseThrow();
    if (!wanted.isSame(given)) {
      return Optional.empty();
    }
    Expr value = answer.sides().get(1);
    boolean renames =
        !wanted.parameter().isEmpty()
            && !given.parameter().isEmpty()
            && !wanted.parameter().equals(given.parameter());
    if (renames && Expr.variables(value).contains(wanted.parameter())) {
      return Optional.of(ComparisonResult.different("another parameter"));
    }
    return Optional.of(
        comparison.same(
            gold.sides().get(1),
            renames ? Expr.renamed(value, given.parameter(), wanted.parameter()) : value));
  }

  /** {@code x=10/2=5} as {@code x=5}, where all that is named is the same. */
  private Relation shortened(Relation relation) {
    List<Expr> sides = relation.sides();
    boolean chain =
        sides.size() > 2
            && isName(sides.get(0))
            && relation.signs().stream().allMatch(sign -> sign == Sign.EQUAL);
    for (int i = 1; chain && i < sides.size() - 1; i++) {
      chain = comparison.same(sides.get(i), sides.getLast()).isEqual();
    }
    return chain
        ? new Relation(List.of(Sign.EQUAL), List.of(sides.get(0), sides.getLast()))
        : relation;
  }

  /** {@code name = value}, in this order, of an equation of two sides that has a name on one. */
  private static Optional<Relation> assignment(Relation relation) {
    if (!relation.is(Sign.EQUAL) && !relation.is(Sign.IN)) {
      return Optional.empty();
    }
    if (isName(relation.sides().get(0))) {
      return Optional.of(relation);
    }
    return relation.is(Sign.EQUAL) && isName(relation.sides().get(1))
        ? Optional.of(new Relation(relation.signs(), relation.sides().reversed()))
        : Optional.empty();
  }

  private static boolean isConstant(Expr expr) {
    return Expr.variables(expr).isEmpty();
  }

  private ComparisonResult single(Relation gold, Relation answer) {
    Relation left = upward(gold);
    Relation right = upward(answer);
    if (left.signs().get(0) != right.signs().get(0)) {
      ComparisonResult sets = comparison.asSets(gold, answer);
      return sets.isEqual() ? sets : ComparisonResult.different("another sign of relation");
    }
    if (!left.sides().stream().allMatch(AnswerComparison::isScalar)
        || !right.sides().stream().allMatch(AnswerComparison::isScalar)) {
      return chains(gold, answer);
    }
    boolean ordered = left.signs().get(0) == Sign.LESS || left.signs().get(0) == Sign.LESS_OR_EQUAL;
    Sign sign = left.signs().get(0);
    boolean numbers = ordered || sign == Sign.EQUAL || sign == Sign.NOT_EQUAL;
    if (numbers && isMultiple(difference(left), difference(right), ordered)) {
      return ComparisonResult.equal("the same relation up to a factor");
    }
    ComparisonResult chain = chains(gold, answer);
    return chain.isEqual() || !sign.isOrder() ? chain : comparison.asSets(gold, answer);
  }

  private static Relation upward(Relation relation) {
    Sign sign = relation.signs().get(0);
    boolean down = sign == Sign.GREATER || sign == Sign.GREATER_OR_EQUAL;
    return down ? new Relation(List.of(sign.flipped()), relation.sides().reversed()) : relation;
  }

  private static Expr difference(Relation relation) {
    return new Call(
        Operator.ADD, relation.sides().get(0), new Call(Operator.NEGATE, relation.sides().get(1)));
  }

  private boolean isMultiple(Expr a, Expr b, boolean positive) {
    Optional<RationalFunction> left = RationalFunction.of(a, budget);
    Optional<RationalFunction> right = RationalFunction.of(b, budget);
    if (left.isPresent() && right.isPresent()) {
      Polynomial across = left.get().top().times(right.get().bottom(), budget);
      Polynomial back = right.get().top().times(left.get().bottom(), budget);
      return across.isMultipleOf(back, positive, budget)
          || (!positive && left.get().top().isMultipleOf(right.get().top(), false, budget));
    }
    BallArithmetic balls = new BallArithmetic(60, budget);
    return scalars
        .constantRatio(a, b, balls)
        .filter(ratio -> !positive || (ratio.isReal() && ratio.re().signum() > 0))
        .isPresent();
  }

  /** Side by side, in the same or in the opposite direction. */
  private ComparisonResult chains(Relation gold, Relation answer) {
    Relation flipped =
        new Relation(
            answer.signs().reversed().stream().map(Sign::flipped).toList(),
            answer.sides().reversed());
    for (Relation candidate : List.of(answer, flipped)) {
      if (candidate.signs().equals(gold.signs())) {
        boolean same = true;
        for (int i = 0; i < gold.sides().size() && same; i++) {
          same = comparison.same(gold.sides().get(i), candidate.sides().get(i)).isEqual();
        }
        if (same) {
          return ComparisonResult.equal("the same relation side by side");
        }
      }
    }
    return ComparisonResult.different("another relation");
  }
}
