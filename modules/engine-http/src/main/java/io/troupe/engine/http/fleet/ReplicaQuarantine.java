package io.troupe.engine.http.fleet;

import io.troupe.core.outage.Backoff;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * The circuit breaker of a replica that failed too often in a row. While the breaker is open the
 * replica gets no work; it stays open longer each time, until the replica has sampled a completion.
 * Afterwards the replica is checked again and brought to the newest weights.
 *
 * @param times number of times in a row that the breaker has opened
 * @param untilNanos the end, on {@link System#nanoTime}'s clock
 * @param reason the last failure
 */
public record ReplicaQuarantine(int times, long untilNanos, String reason) {
  /**
   * The longest is shorter than a lease, so that a group that waits for the end does not expire.
   */
  private static final Backoff BACKOFF = new Backoff(500, 20_000);

  /** The first quarantine. */
  public static ReplicaQuarantine first(long now, String reason) {
    return of(1, now, reason);
  }

  /** Returns the next quarantine, after no token was sampled since this one. */
  public ReplicaQuarantine next(long now, String why) {
    return of(times + 1, now, why);
  }

  private static ReplicaQuarantine of(int times, long now, String reason) {
    long end = now + TimeUnit.MILLISECONDS.toNanos(BACKOFF.pauseMillis(times));
    return new ReplicaQuarantine(times, end, reason);
  }

  /** The time left; zero once the quarantine is over. */
  public Duration remaining(long now) {
    return Duration.ofNanos(Math.max(0, untilNanos - now));
  }
}
