package io.troupe.verifiers.math.compare;

import io.troupe.verifiers.math.expr.Expr;
import java.util.List;
import java.util.Optional;
import java.util.function.ToIntFunction;
import java.util.stream.Stream;

/**
 * A set of real numbers as it was written.
 *
 * <p>Two are compared at the places that their bounds cut the line into: bound number n is place
 * {@code 2n + 1}, and the gaps between bounds are the even places. A set holds all of a place or
 * nothing of it.
 */
sealed interface RealSet {
  /** Whether a place is in the set; {@code bounds} numbers the bounds from the least on. */
  boolean holds(int place, ToIntFunction<Expr> bounds);

  /** All bounds, in any order. */
  Stream<Expr> bounds();

  /** All numbers between two bounds; no bound is infinity. */
  record Interval(Optional<Expr> low, boolean closedLow, Optional<Expr> high, boolean closedHigh)
      implements RealSet {
    @Override
    public boolean holds(int place, ToIntFunction<Expr> bounds) {
      int from = low.map(e -> 2 * bounds.applyAsInt(e) + (closedLow ? 1 : 2)).orElse(-1);
      int to =
          high.map(e -> 2 * bounds.applyAsInt(e) + (closedHigh ? 1 : 0)).orElse(Integer.MAX_VALUE);
      return from <= place && place <= to;
    }

    @Override
    public Stream<Expr> bounds() {
      return Stream.concat(low.stream(), high.stream());
    }
  }

  /** Single numbers. */
  record Points(List<Expr> values) implements RealSet {
    @Override
    public boolean holds(int place, ToIntFunction<Expr> bounds) {
      return values.stream().anyMatch(value -> place == 2 * bounds.applyAsInt(value) + 1);
    }

    @Override
    public Stream<Expr> bounds() {
      return values.stream();
    }
  }

  /** Several sets in one. */
  record Union(List<RealSet> parts) implements RealSet {
    @Override
    public boolean holds(int place, ToIntFunction<Expr> bounds) {
      return parts.stream().anyMatch(part -> part.holds(place, bounds));
    }

    @Override
    public Stream<Expr> bounds() {
      return parts.stream().flatMap(RealSet::bounds);
    }
  }

  /** What several sets have in common. */
  record Intersection(List<RealSet> parts) implements RealSet {
    @Override
    public boolean holds(int place, ToIntFunction<Expr> bounds) {
      return parts.stream().allMatch(part -> part.holds(place, bounds));
    }

    @Override
    public Stream<Expr> bounds() {
      return parts.stream().flatMap(RealSet::bounds);
    }
  }

  /** Conditions with commas between: all of them, or any where no number fulfils all. */
  record Listed(List<RealSet> parts) implements RealSet {
    /** More than there are; those behind the last bound are like it. */
    private static final int MOST_PLACES = 50;

    @Override
    public boolean holds(int place, ToIntFunction<Expr> bounds) {
      RealSet all = new Intersection(parts);
      for (int i = 0; i <= MOST_PLACES; i++) {
        if (all.holds(i, bounds)) {
          return all.holds(place, bounds);
        }
      }
      return new Union(parts).holds(place, bounds);
    }

    @Override
    public Stream<Expr> bounds() {
      return parts.stream().flatMap(RealSet::bounds);
    }
  }

  /** What is not in a set. */
  record Complement(RealSet of) implements RealSet {
    @Override
    public boolean holds(int place, ToIntFunction<Expr> bounds) {
      return !of.holds(place, bounds);
    }

    @Override
    public Stream<Expr> bounds() {
      return of.bounds();
    }
  }
}
