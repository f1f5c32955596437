package io.troupe.tracking;

import io.troupe.core.outage.Backoff;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The times at which the trackers of a run look for more, try again, and end. The end has two
 * parts: first the run has ended, so that nothing more is written; later the time for sending the
 * rest is over.
 */
final class TrackingClock {
  private static final Backoff PAUSES = new Backoff(1_000, 60_000);

  private final Duration look;
  private final Backoff pauses;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private long endAt = Long.MAX_VALUE; // guarded by lock, like the field below
  private boolean ending;

  TrackingClock(Duration look) {
    this(look, PAUSES);
  }

  /**
   * A clock of a run that continues.
   *
   * @param look interval in which a tracker looks for more
   */
  TrackingClock(Duration look, Backoff pauses) {
    this.look = look;
    this.pauses = pauses;
  }

  /** The pauses after failures. */
  Backoff pauses() {
    return pauses;
  }

  /** Says that the run has ended, and how long the rest may take. */
  void end(Duration longest) {
    lock.lock();
    try {
      ending = true;
      endAt = System.nanoTime() + longest.toNanos();
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Whether the run has ended. */
  boolean ending() {
    lock.lock();
    try {
      return ending;
    } finally {
      lock.unlock();
    }
  }

  /** Whether there is time to send more. */
  boolean isOpen() {
    lock.lock();
    try {
      return !ending || System.nanoTime() - endAt < 0;
    } finally {
      lock.unlock();
    }
  }

  /** Waits until it is time to look for more; false if no time is left. */
  boolean awaitMore() {
    return pause(look);
  }

  /** Waits; the end of the run ends the pause once. False if no time is left. */
  boolean pause(Duration length) {
    lock.lock();
    try {
      boolean before = ending;
      long until = System.nanoTime() + length.toNanos();
      long left = length.toNanos();
      while (left > 0 && ending == before) {
        left = Math.min(until, before ? endAt : until) - System.nanoTime();
        var _ = changed.await(Math.max(0, left), TimeUnit.NANOSECONDS);
      }
      return !ending || System.nanoTime() - endAt < 0;
    } catch (InterruptedException stop) {
      return false;
    } finally {
      lock.unlock();
    }
  }
}
