package io.troupe.tasks;

import static io.troupe.core.Require.require;
import static io.troupe.core.SplitMix64.mix;

import java.util.ArrayList;
import java.util.List;

/**
 * Merges several lists into one. Every element appears exactly once, and the elements of each list
 * keep their order.
 */
public final class DataSetMixing {
  private DataSetMixing() {}

  /** Returns one list after the other. */
  public static <T> List<T> sequential(List<List<T>> lists) {
    List<T> mixed = new ArrayList<>();
    lists.forEach(mixed::addAll);
    return mixed;
  }

  /**
   * Takes each next element from a list chosen at random by weight among the lists that are not
   * empty, until all lists are empty: weights shape the interleaving, not the share of a list that
   * is used.
   *
   * @param weights one for each list, greater than 0
   * @param seed the same seed gives the same order
   */
  public static <T> List<T> weighted(List<List<T>> lists, List<Double> weights, long seed) {
    require(
        lists.size() == weights.size(),
        "each of the %d lists has a weight, not %d",
        lists.size(),
        weights.size());
    weights.forEach(
        weight ->
            require(weight > 0 && Double.isFinite(weight), "a weight is above 0, not %s", weight));
    int total = lists.stream().mapToInt(List::size).sum();
    int[] next = new int[lists.size()];
    List<T> mixed = new ArrayList<>(total);
    for (int drawn = 0; drawn < total; drawn++) {
      int chosen = choose(lists, weights, next, unit(seed, drawn));
      mixed.add(lists.get(chosen).get(next[chosen]++));
    }
    return mixed;
  }

  /** A shuffled copy (Fisher and Yates, in Durstenfeld's form). */
  static <T> List<T> shuffled(List<T> list, long seed) {
    List<T> shuffled = new ArrayList<>(list);
    for (int i = shuffled.size() - 1; i > 0; i--) {
      int other = (int) Math.floorMod(mix(mix(seed) + i), i + 1L);
      T moved = shuffled.get(i);
      shuffled.set(i, shuffled.get(other));
      shuffled.set(other, moved);
    }
    return shuffled;
  }

  private static <T> int choose(
      List<List<T>> lists, List<Double> weights, int[] next, double unit) {
    double left = 0;
    for (int i = 0; i < next.length; i++) {
      left += next[i] < lists.get(i).size() ? weights.get(i) : 0;
    }
    double target = unit * left;
    int last = -1;
    for (int i = 0; i < next.length; i++) {
      if (next[i] < lists.get(i).size()) {
        last = i;
        target -= weights.get(i);
        if (target < 0) {
          return i;
        }
      }
    }
    return last; // rounding can leave the number just above the share of the last list
  }

  /** Returns the n-th random number of a seed, in [0, 1). */
  private static double unit(long seed, long draw) {
    return (mix(mix(seed) + draw) >>> 11) * 0x1p-53;
  }
}
