package io.troupe.sim.engine;

import java.util.Arrays;

/** The completions that an engine decodes, in the order in which they leave: the last one first. */
final class DecodeRows {
  /** By row: the engine's step at which the completion has its last token, in descending order. */
  private double[] leaves = new double[64];

  private ActiveGroup[] groups = new ActiveGroup[64];

  /** By row: the number of the completion within its group. */
  private int[] indexes = new int[64];

  /** By row: the number of tokens of the whole completion. */
  private int[] tokens = new int[64];

  private int size;

  int size() {
    return size;
  }

  double leaves(int row) {
    return leaves[row];
  }

  int tokens(int row) {
    return tokens[row];
  }

  ActiveGroup group(int row) {
    return groups[row];
  }

  /** Adds the completions of a group that has joined. */
  void add(ActiveGroup group) {
    int[] lengths = group.lengths();
    long[] added = new long[lengths.length];
    for (int i = 0; i < added.length; i++) {
      added[i] = (long) lengths[i] << Integer.SIZE | i;
    }
    Arrays.sort(added);
    int old = size - 1;
    size += added.length;
    grow();
    int row = size - 1;
    for (long next : added) { // In place: a row moves towards the end, or stays.
      int length = (int) (next >> Integer.SIZE);
      double leaving = group.joined() + length;
      while (old >= 0 && leaves[old] <= leaving) {
        move(old--, row--);
      }
      set(row--, leaving, group, (int) next, length);
    }
  }

  private void grow() {
    if (size > leaves.length) {
      int most = 2 * size;
      leaves = Arrays.copyOf(leaves, most);
      groups = Arrays.copyOf(groups, most);
      indexes = Arrays.copyOf(indexes, most);
      tokens = Arrays.copyOf(tokens, most);
    }
  }

  private void move(int from, int to) {
    set(to, leaves[from], groups[from], indexes[from], tokens[from]);
  }

  private void set(int row, double leaving, ActiveGroup group, int index, int length) {
    leaves[row] = leaving;
    groups[row] = group;
    indexes[row] = index;
    tokens[row] = length;
  }

  /** Takes the lengths of groups that were sampled again. */
  void reorder() {
    for (int next = 0; next < size; next++) {
      ActiveGroup group = groups[next];
      int index = indexes[next];
      int length = group.lengths()[index];
      double leaving = group.joined() + length;
      int row = next;
      for (; row > 0 && leaves[row - 1] < leaving; row--) {
        move(row - 1, row);
      }
      set(row, leaving, group, index, length);
    }
  }

  /** Removes the rows behind the first ones. */
  void truncate(int first) {
    size = first;
  }

  /** Removes the rows of a group; returns how many there were. */
  int remove(ActiveGroup group) {
    int before = size;
    size = 0;
    for (int row = 0; row < before; row++) {
      if (groups[row] != group) {
        move(row, size++);
      }
    }
    return before - size;
  }

  /** The step at which the row joined that is here longest; another one where there is none. */
  double oldestJoin(double otherwise) {
    double oldest = otherwise;
    for (int i = 0; i < size; i++) {
      oldest = Math.min(oldest, groups[i].joined());
    }
    return oldest;
  }
}
