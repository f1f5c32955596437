package io.troupe.sim.engine;

import io.troupe.sim.model.VerifyModel;

/** A pool of verifiers: c servers and one queue, first come, first served. */
final class SimulatedVerifiers {
  private final VerifyModel model;
  private final long seed;

  /** The time at which each server is free: a binary heap. */
  private final long[] freeAt;

  private long stalledUntil;
  private long awayUntil;
  private long busyMicros;

  SimulatedVerifiers(VerifyModel model, int servers, long seed) {
    this.model = model;
    this.seed = seed;
    this.freeAt = new long[servers];
  }

  /** Judges nothing until a time, and does not say so. */
  void stall(long until) {
    stalledUntil = Math.max(stalledUntil, until);
  }

  /** Refuses everything until a time. */
  void leave(long until) {
    awayUntil = Math.max(awayUntil, until);
  }

  boolean isAway(long now) {
    return now < awayUntil;
  }

  /** Returns the time at which all completions are judged of a group that comes now. */
  long finish(long now, long group, int completions) {
    long start = Math.max(now + Agenda.micros(model.groupSeconds()), stalledUntil);
    long end = start;
    for (int i = 0; i < completions; i++) {
      long takes = Agenda.micros(model.seconds(seed, group, i));
      busyMicros += takes;
      long done = Math.max(start, freeAt[0]) + takes;
      end = Math.max(end, done);
      sink(done);
    }
    return end;
  }

  /** Microseconds of all servers together. */
  long busyMicros() {
    return busyMicros;
  }

  int servers() {
    return freeAt.length;
  }

  private void sink(long done) {
    int hole = 0;
    while (2 * hole + 1 < freeAt.length) {
      int child = 2 * hole + 1;
      if (child + 1 < freeAt.length && freeAt[child + 1] < freeAt[child]) {
        child++;
      }
      if (done <= freeAt[child]) {
        break;
      }
      freeAt[hole] = freeAt[child];
      hole = child;
    }
    freeAt[hole] = done;
  }
}
