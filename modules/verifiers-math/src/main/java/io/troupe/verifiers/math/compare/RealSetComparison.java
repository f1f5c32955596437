package io.troupe.verifiers.math.compare;

import io.troupe.verifiers.math.expr.Expr;
import io.troupe.verifiers.math.expr.StepBudget;
import io.troupe.verifiers.math.expr.UnresolvedException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.ToIntFunction;
import java.util.stream.Stream;

/** Compares two answers as sets of real numbers. */
final class RealSetComparison {
  private static final int MOST_BOUNDS = 24;

  private final ScalarComparison scalars;
  private final StepBudget budget;

  RealSetComparison(ScalarComparison scalars, StepBudget budget) {
    this.scalars = scalars;
    this.budget = budget;
  }

  /** Empty if one of both is no set of real numbers. */
  Optional<ComparisonResult> compare(Expr gold, Expr answer) {
    RealSetReader goldReader = new RealSetReader(budget);
    RealSetReader answerReader = new RealSetReader(budget);
    Optional<RealSet> left = goldReader.read(gold);
    Optional<RealSet> right = left.flatMap(_ -> answerReader.read(answer));
    if (left.isEmpty() || right.isEmpty()) {
      return Optional.empty();
    }
    if (goldReader.names().size() > 1 || answerReader.names().size() > 1) {
      return Optional.empty();
    }
    boolean named = !goldReader.names().isEmpty() && !answerReader.names().isEmpty();
    if (named && !goldReader.names().equals(answerReader.names())) {
      return Optional.of(ComparisonResult.different("another name"));
    }
    return Optional.of(
        isSame(left.get(), right.get())
            ? ComparisonResult.equal("the same set of real numbers")
            : ComparisonResult.different("another set of real numbers"));
  }

  private boolean isSame(RealSet gold, RealSet answer) {
    List<Expr> all = Stream.concat(gold.bounds(), answer.bounds()).toList();
    if (all.size() > MOST_BOUNDS) {
      throw new UnresolvedException(UnresolvedException.Why.TOO_LARGE);
    }
    List<List<Expr>> sorted = new ArrayList<>();
    for (Expr bound : all) {
      insert(sorted, bound);
    }
    ToIntFunction<Expr> number =
        bound -> {
          for (int i = 0; i < sorted.size(); i++) {
            if (sorted.get(i).contains(bound)) {
              return i;
            }
          }
          throw new UnresolvedException(UnresolvedException.Why.UNDEFINED);
        };
    for (int place = 0; place <= 2 * sorted.size(); place++) {
      budget.spend(20L * all.size());
      if (gold.holds(place, number) != answer.holds(place, number)) {
        return false;
      }
    }
    return true;
  }

  /** Puts a bound with its equals, or between its neighbours. */
  private void insert(List<List<Expr>> sorted, Expr bound) {
    int at = 0;
    while (at < sorted.size()) {
      Expr other = sorted.get(at).get(0);
      if (scalars.compare(other, bound).isEqual()) {
        sorted.get(at).add(bound);
        return;
      }
      if (isLess(bound, other)) {
        break;
      }
      at++;
    }
    sorted.add(at, new ArrayList<>(List.of(bound)));
  }

  private boolean isLess(Expr a, Expr b) {
    int order = RealSetReader.order(a, b, budget);
    if (order == 0) {
      throw new UnresolvedException(UnresolvedException.Why.UNDEFINED);
    }
    return order < 0;
  }
}
