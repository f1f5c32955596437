package io.troupe.sim.engine;

import static io.troupe.core.Require.invariant;

import java.util.Arrays;

/**
 * Virtual time in microseconds, and what will happen in it: a binary heap by time, of equal times
 * by order of planning, so that a run depends on nothing but its inputs.
 */
public final class Agenda {
  private static final double MICROS = 1e6;

  private long[] times = new long[64];
  private long[] orders = new long[64];
  private long[] stamps = new long[64];
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
    invariant(time >= now, "an occurrence at %d us is planned at %d us", time, now);
    if (size == times.length) {
      times = Arrays.copyOf(times, 2 * size);
      orders = Arrays.copyOf(orders, 2 * size);
      stamps = Arrays.copyOf(stamps, 2 * size);
      what = Arrays.copyOf(what, 2 * size);
    }
    int hole = size++;
    long order = planned++;
    while (hole > 0) {
      int parent = (hole - 1) / 2;
      if (before(times[parent], orders[parent], time, order)) {
        break;
      }
      move(parent, hole);
      hole = parent;
    }
    set(hole, time, order, stamp, occurrence);
  }

  /** Whether nothing is planned. */
  public boolean isEmpty() {
    return size == 0;
  }

  /** The time of what happens next. */
  public long next() {
    return times[0];
  }

  /** Moves to what happens next, and lets it happen. */
  public void step() {
    now = times[0];
    long stamp = stamps[0];
    Occurrence occurrence = what[0];
    size--;
    if (size > 0) {
      sink(times[size], orders[size], stamps[size], what[size]);
    }
    occurrence.occur(stamp);
  }

  private void sink(long time, long order, long stamp, Occurrence occurrence) {
    int hole = 0;
    while (2 * hole + 1 < size) {
      int child = 2 * hole + 1;
      if (child + 1 < size
          && before(times[child + 1], orders[child + 1], times[child], orders[child])) {
        child++;
      }
      if (before(time, order, times[child], orders[child])) {
        break;
      }
      move(child, hole);
      hole = child;
    }
    set(hole, time, order, stamp, occurrence);
  }

  private static boolean before(long time, long order, long otherTime, long otherOrder) {
    return time < otherTime || (time == otherTime && order < otherOrder);
  }

  private void move(int from, int to) {
    set(to, times[from], orders[from], stamps[from], what[from]);
  }

  private void set(int place, long time, long order, long stamp, Occurrence occurrence) {
    times[place] = time;
    orders[place] = order;
    stamps[place] = stamp;
    what[place] = occurrence;
  }
}
