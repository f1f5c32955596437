package io.troupe.sim.engine;

import static io.troupe.core.Require.invariant;

import java.util.Arrays;

/**
 * Virtual time in microseconds, and what will happen in it: a heap by time, of equal times by order
 * of planning, so that a run depends on nothing but its inputs.
 */
public final class Agenda {
  /*
   * A node of the heap has four children, whose keys are neighbours in one array: a simulated day of
   * a thousand GPUs takes a hundred million occurrences off it, and half as many levels of half as
   * many cache lines are what that costs.
   */
  private static final int ARITY = 4;

  private static final double MICROS = 1e6;

  /** A node's time, order of planning, and stamp. */
  private static final int KEY = 3;

  private long[] keys = new long[64 * KEY];
  private Occurrence[] what = new Occurrence[64];
  private int size;
  private long planned;
  private long now;

  /** The time, in microseconds. */
  public long now() {
    return now;
  }

  /** A duration as the agenda counts it. */
  public static long micros(double seconds) {
    return (long) Math.ceil(seconds * MICROS);
  }

  /** A duration in seconds. */
  public static double seconds(long micros) {
    return micros / MICROS;
  }

  /** Plans an occurrence after a duration. */
  public void after(long micros, Occurrence occurrence) {
    at(now + micros, occurrence, 0);
  }

  /** Plans an occurrence at a time that has not passed. */
  public void at(long time, Occurrence occurrence, long stamp) {
    if (time < now) { // Nothing is boxed for what never fails.
      invariant(false, "an occurrence at %d us is planned at %d us", time, now);
    }
    if (size == what.length) {
      keys = Arrays.copyOf(keys, 2 * size * KEY);
      what = Arrays.copyOf(what, 2 * size);
    }
    int hole = size++;
    while (hole > 0) {
      int parent = (hole - 1) / ARITY;
      if (keys[parent * KEY] <= time) {
        break; // Of equal times the parent was planned before.
      }
      move(parent, hole);
      hole = parent;
    }
    set(hole, time, planned++, stamp, occurrence);
  }

  /** Whether nothing is planned. */
  public boolean isEmpty() {
    return size == 0;
  }

  /** The time of what happens next. */
  public long next() {
    return keys[0];
  }

  /** Moves to what happens next, and lets it happen. */
  public void step() {
    now = keys[0];
    long stamp = keys[2];
    Occurrence occurrence = what[0];
    size--;
    if (size > 0) {
      sink(keys[size * KEY], keys[size * KEY + 1], keys[size * KEY + 2], what[size]);
    }
    occurrence.occur(stamp);
  }

  private void sink(long time, long order, long stamp, Occurrence occurrence) {
    int hole = 0;
    while (ARITY * hole + 1 < size) {
      int first = ARITY * hole + 1;
      int end = Math.min(first + ARITY, size);
      int least = first;
      long leastTime = keys[first * KEY];
      for (int child = first + 1; child < end; child++) {
        long childTime = keys[child * KEY];
        if (childTime < leastTime
            || (childTime == leastTime && keys[child * KEY + 1] < keys[least * KEY + 1])) {
          least = child;
          leastTime = childTime;
        }
      }
      if (time < leastTime || (time == leastTime && order < keys[least * KEY + 1])) {
        break;
      }
      move(least, hole);
      hole = least;
    }
    set(hole, time, order, stamp, occurrence);
  }

  private void move(int from, int to) {
    keys[to * KEY] = keys[from * KEY];
    keys[to * KEY + 1] = keys[from * KEY + 1];
    keys[to * KEY + 2] = keys[from * KEY + 2];
    what[to] = what[from];
  }

  private void set(int node, long time, long order, long stamp, Occurrence occurrence) {
    keys[node * KEY] = time;
    keys[node * KEY + 1] = order;
    keys[node * KEY + 2] = stamp;
    what[node] = occurrence;
  }
}
