package io.troupe.engine.http.fleet;

import java.time.Duration;

/**
 * How long a server that failed too often in a row is given no work: longer each time, until it has
 * drawn a completion. Then it is looked at anew, and brought to the newest weights.
 *
 * @param times in a row
 * @param untilNanos on {@link System#nanoTime}'s clock
 * @param reason of the last failure
 */
public record ReplicaQuarantine(int times, long untilNanos, String reason) {
  private static final Duration FIRST = Duration.ofMillis(500);

  /** Shorter than a lease lasts, so that a group that waits for the end does not expire. */
  private static final Duration LONGEST = Duration.ofSeconds(20);

  /** A first one. */
  public static ReplicaQuarantine first(long now, String reason) {
    return new ReplicaQuarantine(1, now + FIRST.toNanos(), reason);
  }

  /** The next one, as nothing was drawn in between. */
  public ReplicaQuarantine next(long now, String why) {
    long pause = Math.min(FIRST.toNanos() << Math.min(times, 10), LONGEST.toNanos());
    return new ReplicaQuarantine(times + 1, now + pause, why);
  }

  /** Time left; none once it is over. */
  public Duration remaining(long now) {
    return Duration.ofNanos(Math.max(0, untilNanos - now));
  }
}
