package io.troupe.verifiers.math.compare;

import io.troupe.verifiers.math.expr.Expr;
import io.troupe.verifiers.math.expr.Expr.Listing;
import io.troupe.verifiers.math.expr.Expr.Relation;
import io.troupe.verifiers.math.expr.Expr.Sign;
import io.troupe.verifiers.math.expr.Expr.Variable;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The values of one unknown, with a number behind its name for each: {@code x_1=1, x_2=3}.
 *
 * <p>They may be two unknowns as well, so that they have no order only beside an answer that shows
 * them to be one: {@code x=1 \text{ or } x=3}, {@code \{1,3\}}, {@code x_{1,2}=2\pm1}.
 */
final class Roots {
  private static final Pattern NUMBERED =
      Pattern.compile("(\\\\?[a-zA-Z]|\\\\[a-z]+)_[0-9](,[0-9])*");

  private final AnswerComparison comparison;

  Roots(AnswerComparison comparison) {
    this.comparison = comparison;
  }

  /** Empty unless one has numbered names, and one shows that they are of one unknown. */
  Optional<ComparisonResult> compare(Expr gold, Expr answer) {
    Optional<Unknown> left = unknown(gold);
    Optional<Unknown> right = unknown(answer);
    if (left.isEmpty() || right.isEmpty()) {
      return Optional.empty();
    }
    Unknown wanted = left.get();
    Unknown given = right.get();
    boolean plain = wanted.naming == Naming.ONE_NAME && given.naming == Naming.ONE_NAME;
    boolean several = wanted.naming == Naming.NUMBERED && given.naming == Naming.NUMBERED;
    if (plain || several) {
      return Optional.empty();
    }
    boolean named = !wanted.name.isEmpty() && !given.name.isEmpty();
    return Optional.of(
        named && !wanted.name.equals(given.name)
            ? ComparisonResult.different("another name")
            : comparison.unordered(wanted.values, given.values));
  }

  private enum Naming {
    /** {@code x_1=1, x_2=3}. */
    NUMBERED,
    /** {@code x_{1,2}=2\pm1}. */
    SHARED,
    /** {@code x=1, x=3}, or values without a name in braces. */
    ONE_NAME
  }

  /**
   * An unknown and its values.
   *
   * @param name of the unknown, without a number; empty if it has none
   */
  private record Unknown(Naming naming, String name, List<Expr> values) {}

  private static Optional<Unknown> unknown(Expr expr) {
    if (expr instanceof Relation relation
        && relation.is(Sign.IN)
        && relation.sides().get(0) instanceof Variable(var letter)
        && relation.sides().get(1) instanceof Listing set
        && set.isSet()) {
      return Optional.of(new Unknown(Naming.ONE_NAME, letter, set.items()));
    }
    if (!(expr instanceof Listing list) || !(list.isBare() || list.isSet())) {
      return Optional.empty();
    }
    boolean values = list.isSet() && list.items().stream().allMatch(AnswerComparison::isScalar);
    return values
        ? Optional.of(new Unknown(Naming.ONE_NAME, "", list.items()))
        : equations(list.items());
  }

  /** Equations, all with one name but for its number. */
  private static Optional<Unknown> equations(List<Expr> items) {
    List<Expr> values = new ArrayList<>();
    Optional<Unknown> first = Optional.empty();
    for (Expr item : items) {
      if (first.isPresent()
          && first.get().naming == Naming.ONE_NAME
          && AnswerComparison.isScalar(item)) {
        values.add(item);
        continue;
      }
      if (!(item instanceof Relation relation)
          || !relation.is(Sign.EQUAL)
          || !(relation.sides().get(0) instanceof Variable(var written))) {
        return Optional.empty();
      }
      Matcher numbered = NUMBERED.matcher(written);
      boolean number = numbered.matches();
      String name = number ? numbered.group(1) : written;
      Naming naming =
          !number ? Naming.ONE_NAME : numbered.group(2) == null ? Naming.NUMBERED : Naming.SHARED;
      Unknown unknown = new Unknown(naming, name, values);
      if (first.isPresent() && !(first.get().naming == naming && first.get().name.equals(name))) {
        return Optional.empty();
      }
      first = Optional.of(unknown);
      values.add(relation.sides().get(1));
    }
    return first;
  }
}
