package io.troupe.sim.engine;

import java.util.Arrays;
import java.util.function.Predicate;

/** The completions that an engine decodes, the next one to end first: a binary heap. */
final class DecodeRows {
  /** By row: the engine's step at which it has its last token. */
  private double[] leaves = new double[64];

  private ActiveGroup[] groups = new ActiveGroup[64];

  /** By row: which completion of its group it is. */
  private int[] indexes = new int[64];

  private int size;

  int size() {
    return size;
  }

  /** The step at which the first row has its last token. */
  double firstLeaves() {
    return leaves[0];
  }

  /** The group of the first row. */
  ActiveGroup firstGroup() {
    return groups[0];
  }

  /** The completion that the first row is of its group. */
  int firstIndex() {
    return indexes[0];
  }

  /**
   * Adds a completion.
   *
   * @param leaving the engine's step at which it has its last token
   */
  void add(double leaving, ActiveGroup group, int index) {
    if (size == leaves.length) {
      leaves = Arrays.copyOf(leaves, 2 * size);
      groups = Arrays.copyOf(groups, 2 * size);
      indexes = Arrays.copyOf(indexes, 2 * size);
    }
    int hole = size++;
    while (hole > 0 && leaves[(hole - 1) / 2] > leaving) {
      move((hole - 1) / 2, hole);
      hole = (hole - 1) / 2;
    }
    set(hole, leaving, group, index);
  }

  void removeFirst() {
    int last = --size;
    double leaving = leaves[last];
    int hole = 0;
    while (2 * hole + 1 < last) {
      int child = 2 * hole + 1;
      if (child + 1 < last && leaves[child + 1] < leaves[child]) {
        child++;
      }
      if (leaving <= leaves[child]) {
        break;
      }
      move(child, hole);
      hole = child;
    }
    set(hole, leaving, groups[last], indexes[last]);
  }

  private void move(int from, int to) {
    leaves[to] = leaves[from];
    groups[to] = groups[from];
    indexes[to] = indexes[from];
  }

  private void set(int row, double leaving, ActiveGroup group, int index) {
    leaves[row] = leaving;
    groups[row] = group;
    indexes[row] = index;
  }

  /** The step at which the row joined that is here longest; another one where there is none. */
  double oldestJoin(double otherwise) {
    double oldest = otherwise;
    for (int i = 0; i < size; i++) {
      oldest = Math.min(oldest, groups[i].joined());
    }
    return oldest;
  }

  /** Whether a rule holds for the group of a row. */
  boolean any(Predicate<ActiveGroup> rule) {
    for (int i = 0; i < size; i++) {
      if (rule.test(groups[i])) {
        return true;
      }
    }
    return false;
  }

  /** Takes a row that is removed. */
  interface Removed {
    void row(ActiveGroup group, int index);
  }

  /** Removes the rows of the groups that a rule names. */
  void removeIf(Predicate<ActiveGroup> rule, Removed removed) {
    double[] oldLeaves = Arrays.copyOf(leaves, size);
    ActiveGroup[] oldGroups = Arrays.copyOf(groups, size);
    int[] oldIndexes = Arrays.copyOf(indexes, size);
    int before = size;
    size = 0;
    for (int i = 0; i < before; i++) {
      if (rule.test(oldGroups[i])) {
        removed.row(oldGroups[i], oldIndexes[i]);
      } else {
        add(oldLeaves[i], oldGroups[i], oldIndexes[i]);
      }
    }
  }

  void clear() {
    size = 0;
  }
}
