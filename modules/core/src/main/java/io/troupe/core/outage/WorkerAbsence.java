package io.troupe.core.outage;

import java.util.Optional;

/**
 * The time for which a run has had no worker: reported after five minutes, and every five minutes
 * from then on.
 *
 * @param since time at which the last worker was there, in milliseconds
 * @param nextAt time of the next report
 */
public record WorkerAbsence(long since, long nextAt) {
  static final long SAID_EVERY_MILLIS = 300_000;

  /** A run's workers may all be started again within that time, after a takeover for instance. */
  private static final long OUT_OF_ORDER_AFTER_MILLIS = 120_000;

  private static final long MINUTE_MILLIS = 60_000;

  /** Notes that a worker is there. */
  public static WorkerAbsence none(long nowMillis) {
    return new WorkerAbsence(nowMillis, nowMillis + SAID_EVERY_MILLIS);
  }

  /** Whether a run that has had no worker for so long is out of order. */
  public static boolean outOfOrder(long since, long nowMillis) {
    return nowMillis - since >= OUT_OF_ORDER_AFTER_MILLIS;
  }

  /** Returns the sentence that is due now, if any. */
  public Optional<String> sentence(long nowMillis) {
    return nowMillis < nextAt
        ? Optional.empty()
        : Optional.of(
            "no worker has been there for %d min, so nothing is sampled; look at the workers' logs"
                .formatted((nowMillis - since) / MINUTE_MILLIS));
  }

  /** Notes that the absence was reported. */
  public WorkerAbsence said(long nowMillis) {
    return new WorkerAbsence(since, nowMillis + SAID_EVERY_MILLIS);
  }
}
