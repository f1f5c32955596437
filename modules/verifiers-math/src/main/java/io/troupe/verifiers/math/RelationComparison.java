package io.troupe.verifiers.math;

import io.troupe.verifiers.math.parse.Expr;
import io.troupe.verifiers.math.parse.Expr.Call;
import io.troupe.verifiers.math.parse.Expr.Constant;
import io.troupe.verifiers.math.parse.Expr.Listing;
import io.troupe.verifiers.math.parse.Expr.Relation;
import io.troupe.verifiers.math.parse.Expr.SetOperation;
import io.troupe.verifiers.math.parse.Expr.Sign;
import io.troupe.verifiers.math.parse.Expr.Variable;
import io.troupe.verifiers.math.parse.Operator;
import io.troupe.verifiers.math.parse.StepBudget;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Compares equations and inequalities, and takes the name off an answer that has one: {@code x=5}
 * and 5.
 *
 * <p>Both sides are brought to one; then equations are the same up to a factor that is not zero,
 * and inequalities up to a positive one. Inequalities in one variable also equal the set of their
 * solutions.
 */
final class RelationComparison {
  private static final Set<String> FUNCTION_NAMES =
      Set.of("f", "g", "h", "p", "q", "r", "F", "G", "P", "Q");
  private static final Expr INFINITY = new Constant(Constant.Name.INFINITY);
  private static final Expr MINUS_INFINITY = new Call(Operator.NEGATE, INFINITY);

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
      return pair(relation.sides().get(1), other, relationIsAnswer);
    }
    if (relation.signs().stream().allMatch(sign -> sign == Sign.EQUAL)) {
      int from = isName(relation.sides().get(0)) ? 1 : 0;
      ComparisonResult last = ComparisonResult.different("an equation where a value is expected");
      for (Expr side : relation.sides().subList(from, relation.sides().size())) {
        last = pair(side, other, relationIsAnswer);
        if (!last.isEqual()) {
          return last;
        }
      }
      return last;
    }
    return relationIsAnswer ? asSets(other, relation) : asSets(relation, other);
  }

  private ComparisonResult pair(Expr side, Expr other, boolean sideIsAnswer) {
    return sideIsAnswer ? comparison.same(other, side) : comparison.same(side, other);
  }

  /** Whether an expression can name a value: a letter, several in a tuple, or {@code f(x)}. */
  private static boolean isName(Expr expr) {
    return switch (expr) {
      case Variable _ -> true;
      case Listing(_, _, var items) -> items.stream().allMatch(Variable.class::isInstance);
      case Call(var operator, var arguments) ->
          operator == Operator.MULTIPLY
              && arguments.size() == 2
              && arguments.get(0) instanceof Variable(var name)
              && FUNCTION_NAMES.contains(name)
              && arguments.get(1) instanceof Variable;
      case Expr.Numeral _,
          Constant _,
          Expr.Matrix _,
          Relation _,
          SetOperation _,
          Expr.Ratio _,
          Expr.InBase _,
          Expr.Words _ ->
          false;
    };
  }

  private ComparisonResult both(Relation gold, Relation answer) {
    Optional<Relation> named = assignment(gold);
    if (named.isPresent()) {
      Optional<Relation> other = assignment(answer);
      if (other.isPresent() && named.get().sides().get(0).equals(other.get().sides().get(0))) {
        return comparison.same(named.get().sides().get(1), other.get().sides().get(1));
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
    return chain.isEqual() ? chain : asSets(gold, answer);
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
    Set<String> names = new java.util.TreeSet<>();
    Expr.variables(expr, names);
    return names.isEmpty();
  }

  private ComparisonResult single(Relation gold, Relation answer) {
    Relation left = upward(gold);
    Relation right = upward(answer);
    if (left.signs().get(0) != right.signs().get(0)) {
      return ComparisonResult.different("another sign of relation");
    }
    if (!left.sides().stream().allMatch(AnswerComparison::isScalar)
        || !right.sides().stream().allMatch(AnswerComparison::isScalar)) {
      return chains(gold, answer);
    }
    boolean ordered = left.signs().get(0) == Sign.LESS || left.signs().get(0) == Sign.LESS_OR_EQUAL;
    return isMultiple(difference(left), difference(right), ordered)
        ? ComparisonResult.equal("the same relation up to a factor")
        : ComparisonResult.different("another relation");
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
      return across.isMultipleOf(back, positive, budget);
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

  /** Compares as sets of real numbers, with inequalities solved. */
  ComparisonResult asSets(Expr gold, Expr answer) {
    Optional<List<Listing>> left = intervals(gold);
    Optional<List<Listing>> right = intervals(answer);
    if (left.isEmpty() || right.isEmpty()) {
      return ComparisonResult.different(
          "%s where %s is expected"
              .formatted(AnswerComparison.kind(answer), AnswerComparison.kind(gold)));
    }
    List<Listing> given = new ArrayList<>(right.get());
    for (Listing wanted : left.get()) {
      if (!given.removeIf(interval -> isSame(wanted, interval))) {
        return ComparisonResult.different("another set of solutions");
      }
    }
    return given.isEmpty()
        ? ComparisonResult.equal("the same set of solutions")
        : ComparisonResult.different("another set of solutions");
  }

  private boolean isSame(Listing gold, Listing answer) {
    return gold.open() == answer.open()
        && gold.close() == answer.close()
        && comparison.same(gold.items().get(0), answer.items().get(0)).isEqual()
        && comparison.same(gold.items().get(1), answer.items().get(1)).isEqual();
  }

  private static Optional<List<Listing>> intervals(Expr expr) {
    return switch (expr) {
      case Listing listing when listing.isInterval() -> Optional.of(List.of(listing));
      case Listing listing when listing.isBare() -> all(listing.items());
      case SetOperation(var joint, var parts) when joint == SetOperation.Joint.UNION -> all(parts);
      case Relation relation -> solved(relation);
      case Listing _,
          SetOperation _,
          Expr.Numeral _,
          Constant _,
          Variable _,
          Call _,
          Expr.Matrix _,
          Expr.Ratio _,
          Expr.InBase _,
          Expr.Words _ ->
          Optional.empty();
    };
  }

  private static Optional<List<Listing>> all(List<Expr> parts) {
    List<Listing> result = new ArrayList<>();
    for (Expr part : parts) {
      Optional<List<Listing>> inside =
          part instanceof Listing listing && !listing.isInterval()
              ? Optional.empty()
              : intervals(part);
      if (inside.isEmpty()) {
        return Optional.empty();
      }
      result.addAll(inside.get());
    }
    return Optional.of(result);
  }

  private static Optional<List<Listing>> solved(Relation relation) {
    List<Sign> signs = relation.signs();
    List<Expr> sides = relation.sides();
    if (relation.is(Sign.IN)) {
      return intervals(sides.get(1));
    }
    if (signs.size() == 1 && sides.get(0) instanceof Variable && isConstant(sides.get(1))) {
      return solved(signs.get(0), sides.get(1));
    }
    if (signs.size() == 1 && sides.get(1) instanceof Variable && isConstant(sides.get(0))) {
      return solved(signs.get(0).flipped(), sides.get(0));
    }
    boolean between =
        signs.size() == 2
            && sides.get(1) instanceof Variable
            && isConstant(sides.get(0))
            && isConstant(sides.get(2));
    if (!between) {
      return Optional.empty();
    }
    return between(signs.get(0), signs.get(1), sides.get(0), sides.get(2))
        .or(
            () ->
                between(
                    signs.get(1).flipped(), signs.get(0).flipped(), sides.get(2), sides.get(0)));
  }

  private static Optional<List<Listing>> between(Sign first, Sign second, Expr low, Expr high) {
    boolean upward =
        (first == Sign.LESS || first == Sign.LESS_OR_EQUAL)
            && (second == Sign.LESS || second == Sign.LESS_OR_EQUAL);
    return upward
        ? Optional.of(
            List.of(
                new Listing(
                    first == Sign.LESS ? '(' : '[',
                    second == Sign.LESS ? ')' : ']',
                    List.of(low, high))))
        : Optional.empty();
  }

  private static Optional<List<Listing>> solved(Sign sign, Expr bound) {
    return switch (sign) {
      case LESS -> Optional.of(List.of(new Listing('(', ')', List.of(MINUS_INFINITY, bound))));
      case LESS_OR_EQUAL ->
          Optional.of(List.of(new Listing('(', ']', List.of(MINUS_INFINITY, bound))));
      case GREATER -> Optional.of(List.of(new Listing('(', ')', List.of(bound, INFINITY))));
      case GREATER_OR_EQUAL ->
          Optional.of(List.of(new Listing('[', ')', List.of(bound, INFINITY))));
      case NOT_EQUAL ->
          Optional.of(
              List.of(
                  new Listing('(', ')', List.of(MINUS_INFINITY, bound)),
                  new Listing('(', ')', List.of(bound, INFINITY))));
      case EQUAL, APPROXIMATELY, IN -> Optional.empty();
    };
  }
}
