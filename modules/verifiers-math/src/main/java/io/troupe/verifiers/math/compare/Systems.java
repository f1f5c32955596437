package io.troupe.verifiers.math.compare;

import io.troupe.verifiers.math.expr.Expr;
import io.troupe.verifiers.math.expr.Expr.Joined;
import io.troupe.verifiers.math.expr.Expr.Listing;
import io.troupe.verifiers.math.expr.Expr.Relation;
import io.troupe.verifiers.math.expr.Expr.Sign;
import io.troupe.verifiers.math.expr.Expr.Variable;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * Compares values of several unknowns: {@code x=3, y=4}, {@code (x,y)=(3,4)}, or the values alone
 * in the order of the unknowns.
 */
final class Systems {
  private static final List<String> FAMILIES = List.of("xyz", "abcd", "pqr", "uvw", "mn", "XYZ");

  private final AnswerComparison comparison;

  Systems(AnswerComparison comparison) {
    this.comparison = comparison;
  }

  /** Empty if neither names several unknowns, or what the other is decides otherwise. */
  Optional<ComparisonResult> compare(Expr gold, Expr answer) {
    Optional<Map<String, Expr>> left = assignments(gold);
    Optional<Map<String, Expr>> right = assignments(answer);
    if (left.isPresent() && right.isPresent()) {
      return Optional.of(both(left.get(), right.get()));
    }
    if (left.isPresent() && answer instanceof Listing values) {
      return listed(left.get(), values, false);
    }
    return right.isPresent() && gold instanceof Listing values
        ? listed(right.get(), values, true)
        : Optional.empty();
  }

  private ComparisonResult both(Map<String, Expr> gold, Map<String, Expr> answer) {
    if (!gold.keySet().equals(answer.keySet())) {
      return ComparisonResult.different("other unknowns");
    }
    for (Map.Entry<String, Expr> each : gold.entrySet()) {
      ComparisonResult value =
          comparison.same(each.getValue(), Objects.requireNonNull(answer.get(each.getKey())));
      if (!value.isEqual()) {
        return ComparisonResult.different("%s: %s".formatted(each.getKey(), value.reason()));
      }
    }
    return ComparisonResult.equal("the same values of all unknowns");
  }

  private Optional<ComparisonResult> listed(
      Map<String, Expr> named, Listing values, boolean valuesAreGold) {
    if (valuesAreGold && values.isBare() && !isIndexed(named.keySet())) {
      return Optional.of(ComparisonResult.different("several unknowns, where the gold names none"));
    }
    boolean ordered = values.isBare() || values.isTuple();
    if (!ordered || values.items().stream().anyMatch(Relation.class::isInstance)) {
      return values.isSet()
          ? Optional.of(ComparisonResult.different("a set where each unknown has a value"))
          : Optional.empty();
    }
    List<Expr> inOrder =
        values.isTuple() && isSorted(named.keySet())
            ? named.entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .map(Map.Entry::getValue)
                .toList()
            : List.copyOf(named.values());
    return Optional.of(
        valuesAreGold
            ? comparison.ordered(values.items(), inOrder, "list of values")
            : comparison.ordered(inOrder, values.items(), "list of values"));
  }

  /** Whether a point has its coordinates in the order of the alphabet, however they are named. */
  private static boolean isSorted(Set<String> names) {
    return FAMILIES.stream().anyMatch(family -> names.stream().allMatch(family::contains))
        || isIndexed(names);
  }

  private static boolean isHalfOpen(Listing listing) {
    return (listing.open() == '[') != (listing.close() == ']');
  }

  private static boolean isIndexed(Set<String> names) {
    return names.stream().allMatch(name -> name.matches("[a-z]_[0-9]"));
  }

  private static Optional<Map<String, Expr>> assignments(Expr expr) {
    Map<String, Expr> found = new LinkedHashMap<>();
    if (expr instanceof Relation relation
        && relation.is(Sign.EQUAL)
        && relation.sides().get(0) instanceof Listing names
        && relation.sides().get(1) instanceof Listing values
        && names.items().size() == values.items().size()
        && !isHalfOpen(names)
        && !isHalfOpen(values)) {
      for (int i = 0; i < names.items().size(); i++) {
        if (!put(found, names.items().get(i), values.items().get(i))) {
          return Optional.empty();
        }
      }
      return Optional.of(found);
    }
    if (expr instanceof Relation chain && chain.sides().size() > 2) {
      return equal(chain);
    }
    List<Expr> items =
        expr instanceof Listing listing && !listing.isInterval() && listing.joined() != Joined.OR
            ? listing.items()
            : List.of();
    for (Expr item : items) {
      boolean named =
          item instanceof Relation relation
              && relation.is(Sign.EQUAL)
              && put(found, relation.sides().get(0), relation.sides().get(1));
      if (!named) {
        return Optional.empty();
      }
    }
    return found.size() > 1 ? Optional.of(found) : Optional.empty();
  }

  /** {@code x=y=z=2}. */
  private static Optional<Map<String, Expr>> equal(Relation chain) {
    Map<String, Expr> found = new LinkedHashMap<>();
    Expr value = chain.sides().getLast();
    boolean known =
        chain.signs().stream().allMatch(sign -> sign == Sign.EQUAL)
            && Expr.variables(value).isEmpty();
    for (Expr name : chain.sides().subList(0, chain.sides().size() - 1)) {
      known &= put(found, name, value);
    }
    return known ? Optional.of(found) : Optional.empty();
  }

  private static boolean put(Map<String, Expr> found, Expr name, Expr value) {
    boolean names = name instanceof Variable || name instanceof Expr.Letters;
    return names
        && AnswerNames.of(name)
            .filter(known -> found.putIfAbsent(known.key() + known.parameter(), value) == null)
            .isPresent();
  }
}
