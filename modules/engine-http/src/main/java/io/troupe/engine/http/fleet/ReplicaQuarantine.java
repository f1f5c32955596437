package io.troupe.engine.http.fleet;

import java.time.Duration;

/**
 * The circuit breaker of a replica that failed too often in a row. While the breaker is open the
 * replica gets no work; it stays open longer each time, until the replica has sampled a completion.
 * Afterwards the replica is checked again and brought to the newest weights.
 *
 * @param times how often in a row the breaker has opened
 * @param untilNanos the end, on {@link System#nanoTime}'s clock
 * @param reason the last failure
 */
public record ReplicaQuarantine(int times, long untilNanos, String reason) {
  private static final Duration FIRST = Duration.ofMillis(500);

  /** Shorter than a lease, so that a group that waits for the end does not expire. */
  private static final Duration LONGEST = Duration.ofSeconds(20);

  /** The first quarantine. */
  public static ReplicaQuarantine first(long now, String reason) {
    return new ReplicaQuarantine(1, now + FIRST.toNanos(), reason);
  }

  /** The next quarantine, after nothing was sampled since this one. */
  public ReplicaQuarantine next(long now, String why) {
    long pause = Math.min(FIRST.toNanos() << Math.min(times, 10), LONGEST.toNanos());
    return new ReplicaQuarantine(times + 1, now + pause, why);
  }

  /** The time left; zero once the quarantine is over. */
  public Duration remaining(long now) {
    return Duration.ofNanos(Math.max(0, untilNanos - now));
  }
}
