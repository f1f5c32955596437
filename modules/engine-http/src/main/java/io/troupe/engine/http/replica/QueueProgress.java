package io.troupe.engine.http.replica;

import io.troupe.engine.http.protocol.LoadReport;
import java.time.Duration;
import java.util.OptionalDouble;

/**
 * The progress of a server's queue, by the reports of its load. A waiting request is no sign of a
 * hang while the server samples tokens for others.
 *
 * @param waits whether requests waited at the last report
 * @param sampled tokens sampled by then; less than 0 if the server does not report them
 * @param grewNanos the time of the last growth of that number
 * @param grew whether the number has ever grown
 */
record QueueProgress(boolean waits, double sampled, long grewNanos, boolean grew) {
  /** No report yet. */
  static final QueueProgress NONE = new QueueProgress(false, -1, 0, false);

  QueueProgress after(LoadReport load, long now) {
    boolean waiting = load.waiting().orElse(0) > 0;
    OptionalDouble told = load.generatedTokens();
    if (told.isEmpty()) {
      return new QueueProgress(waiting, -1, grewNanos, false);
    }
    boolean more = sampled >= 0 && told.getAsDouble() > sampled;
    return new QueueProgress(waiting, told.getAsDouble(), more ? now : grewNanos, grew || more);
  }

  /** Whether requests wait, and the server sampled tokens within a time. */
  boolean moves(long now, Duration within) {
    return waits && grew && now - grewNanos <= within.toNanos();
  }
}
