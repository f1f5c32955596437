package io.troupe.sim.engine;

import java.util.Arrays;
import java.util.function.Predicate;

/** The completions that an engine decodes, the next one to end first: a binary heap. */
final class DecodeRows {
  private DecodeRow[] heap = new DecodeRow[64];
  private int size;

  /**
   * A completion that is decoded.
   *
   * @param leaves the engine's step at which it has its last token
   */
  record DecodeRow(double leaves, ActiveGroup group, int index) {}

  int size() {
    return size;
  }

  DecodeRow first() {
    return heap[0];
  }

  void add(DecodeRow row) {
    if (size == heap.length) {
      heap = Arrays.copyOf(heap, 2 * size);
    }
    int hole = size++;
    while (hole > 0 && heap[(hole - 1) / 2].leaves > row.leaves) {
      heap[hole] = heap[(hole - 1) / 2];
      hole = (hole - 1) / 2;
    }
    heap[hole] = row;
  }

  DecodeRow removeFirst() {
    DecodeRow first = heap[0];
    DecodeRow last = heap[--size];
    int hole = 0;
    while (2 * hole + 1 < size) {
      int child = 2 * hole + 1;
      if (child + 1 < size && heap[child + 1].leaves < heap[child].leaves) {
        child++;
      }
      if (last.leaves <= heap[child].leaves) {
        break;
      }
      heap[hole] = heap[child];
      hole = child;
    }
    heap[hole] = last;
    return first;
  }

  /** The step at which the row joined that is here longest; another one where there is none. */
  double oldestJoin(double otherwise) {
    double oldest = otherwise;
    for (int i = 0; i < size; i++) {
      oldest = Math.min(oldest, heap[i].group.joined());
    }
    return oldest;
  }

  /** Removes the rows that a rule names. */
  void removeIf(Predicate<DecodeRow> rule) {
    DecodeRow[] old = Arrays.copyOf(heap, size);
    size = 0;
    for (DecodeRow row : old) {
      if (!rule.test(row)) {
        add(row);
      }
    }
  }
}
