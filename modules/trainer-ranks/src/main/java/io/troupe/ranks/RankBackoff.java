package io.troupe.ranks;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * Decides which ranks are left out for a while, because they failed repeatedly by their own fault:
 * the others continue without them. Times are of one clock, in nanoseconds. Not safe for threads.
 */
final class RankBackoff {
  private static final int FAILURES_IN_A_ROW = 2;

  private final long pause;
  private final Map<Integer, Failures> failures = new HashMap<>();

  /** Failures in a row, and the time of the last one. */
  private record Failures(int count, long last) {}

  /**
   * Leaves no rank out yet.
   *
   * @param stay time for which a rank is left out
   */
  RankBackoff(Duration stay) {
    this.pause = stay.toNanos();
  }

  /** Counts a failure of a rank. */
  void failed(int number, long now) {
    failures.put(number, new Failures(of(number).count + 1, now));
  }

  private Failures of(int number) {
    return failures.getOrDefault(number, new Failures(0, 0));
  }

  /** A rank has made a step. */
  void succeeded(int number) {
    failures.remove(number);
  }

  /** Whether a rank is left out. After its time a rank is left out again at its next failure. */
  boolean excludes(int number, long now) {
    Failures own = of(number);
    return own.count >= FAILURES_IN_A_ROW && now - own.last < pause;
  }
}
