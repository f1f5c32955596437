package io.troupe.verifiers.math.compare;

import io.troupe.verifiers.math.expr.Expr;
import io.troupe.verifiers.math.expr.Expr.Call;
import io.troupe.verifiers.math.expr.Expr.Constant;
import io.troupe.verifiers.math.expr.Expr.Joined;
import io.troupe.verifiers.math.expr.Expr.Listing;
import io.troupe.verifiers.math.expr.Expr.Numeral;
import io.troupe.verifiers.math.expr.Expr.Quantity;
import io.troupe.verifiers.math.expr.Expr.Relation;
import io.troupe.verifiers.math.expr.Expr.SetBuilder;
import io.troupe.verifiers.math.expr.Expr.SetOperation;
import io.troupe.verifiers.math.expr.Expr.Sign;
import io.troupe.verifiers.math.expr.Expr.Variable;
import io.troupe.verifiers.math.expr.Expr.Words;
import io.troupe.verifiers.math.expr.Operator;
import io.troupe.verifiers.math.expr.StepBudget;
import io.troupe.verifiers.math.value.Ball;
import io.troupe.verifiers.math.value.BallArithmetic;
import io.troupe.verifiers.math.value.NumericEvaluation;
import io.troupe.verifiers.math.value.RationalFunction;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Reads intervals, inequalities, sets of numbers and what is made of them as sets of real numbers.
 * An inequality must be solved, as {@code x>3} and {@code |x-2|<1} are.
 */
final class RealSetReader {
  private static final RealSet ALL =
      new RealSet.Interval(Optional.empty(), false, Optional.empty(), false);

  private final StepBudget budget;
  private final Set<String> names = new TreeSet<>();

  RealSetReader(StepBudget budget) {
    this.budget = budget;
  }

  /** The names of the unknowns that were read so far. */
  Set<String> names() {
    return names;
  }

  Optional<RealSet> read(Expr expr) {
    budget.spend(5);
    return switch (expr) {
      case Listing listing when listing.isInterval() -> interval(listing);
      case Listing listing when listing.isSet() || listing.isBare() -> listing(listing);
      case SetOperation(var joint, var parts) -> operation(joint, parts);
      case Variable(var name) when name.equals("\\mathbbR") -> Optional.of(ALL);
      case Words(var text) -> words(text);
      case Relation relation -> relation(relation);
      case SetBuilder(var member, var condition) -> builder(member, condition);
      default -> Optional.empty();
    };
  }

  private static Optional<RealSet> words(String text) {
    return switch (WordAnswers.canonical(text)) {
      case WordAnswers.ALL_REALS -> Optional.of(ALL);
      case WordAnswers.NO_SOLUTION -> Optional.of(new RealSet.Points(List.of()));
      default -> Optional.empty();
    };
  }

  /** An interval, if its bounds are in their order; {@code (3,1)} is a point. */
  private Optional<RealSet> interval(Listing listing) {
    Expr low = listing.items().get(0);
    Expr high = listing.items().get(1);
    boolean numbers =
        isConstant(low) && isConstant(high) && infinity(low) <= 0 && infinity(high) >= 0;
    boolean closedAtInfinity =
        (infinity(low) != 0 && listing.open() == '[')
            || (infinity(high) != 0 && listing.close() == ']');
    return numbers && !closedAtInfinity && isInOrder(listing)
        ? Optional.of(
            new RealSet.Interval(
                finite(low), listing.open() == '[', finite(high), listing.close() == ']'))
        : Optional.empty();
  }

  /** Brackets of two kinds hold no point, so what they hold may be empty: {@code (3,3]}. */
  private boolean isInOrder(Listing listing) {
    Expr low = listing.items().get(0);
    Expr high = listing.items().get(1);
    if (infinity(low) != 0 || infinity(high) != 0 || !listing.isRow()) {
      return true;
    }
    int order = order(low, high, budget);
    return order < 0 || (order == 0 && !listing.isTuple());
  }

  /** Which of two numbers is less; 0 if sixty digits do not tell, or one is not real. */
  static int order(Expr a, Expr b, StepBudget budget) {
    BallArithmetic balls = new BallArithmetic(60, budget);
    Expr difference = new Call(Operator.ADD, a, new Call(Operator.NEGATE, b));
    Ball value =
        new NumericEvaluation(balls, Map.of(), Map.of(), false, false, budget).of(difference);
    boolean told = value.isReal() && value.re().abs().compareTo(value.error()) > 0;
    return told ? value.re().signum() : 0;
  }

  private static Optional<Expr> finite(Expr bound) {
    return infinity(bound) == 0 ? Optional.of(bound) : Optional.empty();
  }

  private static int infinity(Expr expr) {
    return switch (expr) {
      case Constant(var name) -> name == Constant.Name.INFINITY ? 1 : 0;
      case Call(var operator, var arguments) ->
          operator == Operator.NEGATE ? -infinity(arguments.get(0)) : 0;
      default -> 0;
    };
  }

  private static boolean isConstant(Expr expr) {
    return AnswerComparison.isScalar(expr) && Expr.variables(expr).isEmpty();
  }

  private Optional<RealSet> listing(Listing listing) {
    List<Expr> items = listing.items();
    if (items.stream().allMatch(RealSetReader::isConstant)) {
      return listing.isSet() ? Optional.of(new RealSet.Points(items)) : Optional.empty();
    }
    boolean nested = items.size() == 1 && items.get(0) instanceof Listing one && one.isSet();
    if (listing.isSet() && (items.size() > 1 || nested)) {
      return Optional.empty();
    }
    Optional<List<RealSet>> parts = excluded(items).or(() -> all(items));
    if (parts.isEmpty()) {
      return Optional.empty();
    }
    boolean relations = items.stream().anyMatch(Relation.class::isInstance);
    boolean unequal =
        items.stream().anyMatch(item -> item instanceof Relation r && r.is(Sign.NOT_EQUAL));
    boolean equal = items.stream().allMatch(item -> item instanceof Relation r && r.is(Sign.EQUAL));
    RealSet whole =
        equal || !relations || (listing.joined() == Joined.OR && !unequal)
            ? new RealSet.Union(parts.get())
            : listing.joined() == Joined.AND || unequal
                ? new RealSet.Intersection(parts.get())
                : new RealSet.Listed(parts.get());
    return Optional.of(whole);
  }

  /** {@code x \neq 0, 3}: each value is excluded. */
  private Optional<List<RealSet>> excluded(List<Expr> items) {
    boolean values =
        items.get(0) instanceof Relation first
            && first.is(Sign.NOT_EQUAL)
            && items.subList(1, items.size()).stream().allMatch(RealSetReader::isConstant);
    if (!values) {
      return Optional.empty();
    }
    Expr name = ((Relation) items.get(0)).sides().get(0);
    List<Expr> relations = new ArrayList<>(List.of(items.get(0)));
    for (Expr value : items.subList(1, items.size())) {
      relations.add(new Relation(List.of(Sign.NOT_EQUAL), List.of(name, value)));
    }
    return all(relations);
  }

  private Optional<List<RealSet>> all(List<Expr> parts) {
    List<RealSet> sets = new ArrayList<>();
    for (Expr part : parts) {
      Optional<RealSet> set = read(part);
      if (set.isEmpty()) {
        return Optional.empty();
      }
      sets.add(set.get());
    }
    return Optional.of(sets);
  }

  private Optional<RealSet> operation(SetOperation.Joint joint, List<Expr> parts) {
    return all(parts)
        .map(
            sets ->
                switch (joint) {
                  case UNION -> new RealSet.Union(sets);
                  case INTERSECTION -> new RealSet.Intersection(sets);
                  case DIFFERENCE -> {
                    List<RealSet> rest = new ArrayList<>(List.of(sets.get(0)));
                    sets.subList(1, sets.size())
                        .forEach(set -> rest.add(new RealSet.Complement(set)));
                    yield new RealSet.Intersection(rest);
                  }
                });
  }

  private Optional<RealSet> builder(Expr member, Expr condition) {
    if (member instanceof Variable(var name)) {
      return Expr.variables(condition).equals(Set.of(name)) || condition instanceof Relation
          ? unnamed(condition)
          : Optional.empty();
    }
    if (member instanceof Relation relation
        && relation.is(Sign.IN)
        && relation.sides().get(0) instanceof Variable) {
      Optional<RealSet> domain = read(relation.sides().get(1));
      Optional<RealSet> inside = unnamed(condition);
      return domain.flatMap(a -> inside.map(b -> new RealSet.Intersection(List.of(a, b))));
    }
    return Optional.empty();
  }

  /** A variable that is bound by the braces is no name of the answer. */
  private Optional<RealSet> unnamed(Expr condition) {
    Set<String> before = new TreeSet<>(names);
    Optional<RealSet> set = read(condition);
    names.clear();
    names.addAll(before);
    return set;
  }

  private Optional<RealSet> relation(Relation relation) {
    List<Expr> sides = relation.sides();
    if (relation.is(Sign.IN) && sides.get(0) instanceof Variable(var name)) {
      names.add(name);
      return read(sides.get(1));
    }
    if (relation.is(Sign.NOT_IN) && sides.get(0) instanceof Variable(var name)) {
      names.add(name);
      return read(sides.get(1)).map(RealSet.Complement::new);
    }
    List<RealSet> parts = new ArrayList<>();
    for (int i = 0; i < relation.signs().size(); i++) {
      Sign sign = relation.signs().get(i);
      Optional<RealSet> part =
          isConstant(sides.get(i + 1))
              ? solved(sides.get(i), sign, sides.get(i + 1))
              : isConstant(sides.get(i))
                  ? solved(sides.get(i + 1), sign.flipped(), sides.get(i))
                  : Optional.empty();
      if (part.isEmpty()) {
        return Optional.empty();
      }
      parts.add(part.get());
    }
    return Optional.of(parts.size() == 1 ? parts.get(0) : new RealSet.Intersection(parts));
  }

  private Optional<RealSet> solved(Expr unknown, Sign sign, Expr bound) {
    if (infinity(bound) != 0) {
      boolean open = infinity(bound) > 0 ? sign == Sign.LESS : sign == Sign.GREATER;
      return open && unknown instanceof Variable ? Optional.of(ALL) : Optional.empty();
    }
    if (unknown instanceof Variable(var name)) {
      names.add(name);
      return ray(sign, bound);
    }
    if (unknown instanceof Call(var operator, var arguments)
        && operator == Operator.ABSOLUTE
        && sign.isOrder()) {
      return absolute(arguments.get(0), sign, bound);
    }
    return Optional.empty();
  }

  /** {@code |ax+b|} less or greater than a number. */
  private Optional<RealSet> absolute(Expr inside, Sign sign, Expr bound) {
    Set<String> unknowns = Expr.variables(inside);
    if (unknowns.size() != 1) {
      return Optional.empty();
    }
    String name = unknowns.iterator().next();
    return RationalFunction.of(inside, budget)
        .flatMap(RationalFunction::polynomial)
        .flatMap(polynomial -> polynomial.linear(name))
        .map(
            line -> {
              names.add(name);
              Expr slope = Numeral.exact(line.get(0));
              Expr offset = Numeral.exact(line.get(1).negate());
              Expr one = root(offset, bound, slope);
              Expr other = root(offset, new Call(Operator.NEGATE, bound), slope);
              boolean up = line.get(0).signum() > 0;
              boolean less = sign == Sign.LESS || sign == Sign.LESS_OR_EQUAL;
              boolean closed = sign == Sign.LESS_OR_EQUAL || sign == Sign.GREATER_OR_EQUAL;
              RealSet within =
                  new RealSet.Interval(
                      Optional.of(up ? other : one),
                      less == closed,
                      Optional.of(up ? one : other),
                      less == closed);
              return less ? within : new RealSet.Complement(within);
            });
  }

  private static Expr root(Expr offset, Expr bound, Expr slope) {
    return new Call(Operator.DIVIDE, new Call(Operator.ADD, offset, bound), slope);
  }

  private static Optional<RealSet> ray(Sign sign, Expr bound) {
    Optional<Expr> at = Optional.of(bound);
    Optional<Expr> none = Optional.empty();
    return switch (sign) {
      case LESS -> Optional.of(new RealSet.Interval(none, false, at, false));
      case LESS_OR_EQUAL -> Optional.of(new RealSet.Interval(none, false, at, true));
      case GREATER -> Optional.of(new RealSet.Interval(at, false, none, false));
      case GREATER_OR_EQUAL -> Optional.of(new RealSet.Interval(at, true, none, false));
      case EQUAL -> Optional.of(new RealSet.Points(List.of(bound)));
      case NOT_EQUAL -> Optional.of(new RealSet.Complement(new RealSet.Points(List.of(bound))));
      default -> Optional.empty();
    };
  }

  /** The same expression without its units, where sets of numbers are compared. */
  static Expr withoutUnits(Expr expr) {
    return expr instanceof Quantity(var value, var unit) && unit.isOptional()
        ? value
        : Expr.map(expr, RealSetReader::withoutUnits);
  }
}
