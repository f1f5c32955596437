package io.troupe.engine.http.replica;

import io.troupe.engine.http.protocol.LoadReport;
import java.time.Duration;
import java.util.OptionalDouble;

/**
 * What a server's reports of its load tell of its queue: a request that waits there is no sign of a
 * hang while tokens are drawn for others.
 *
 * @param waits whether requests waited at the last report
 * @param drawn tokens drawn by then; less than 0 where it does not tell
 * @param grewNanos when that number was last seen to have grown
 * @param grew whether it ever was
 */
record QueueProgress(boolean waits, double drawn, long grewNanos, boolean grew) {
  /** Nothing was told. */
  static final QueueProgress NONE = new QueueProgress(false, -1, 0, false);

  QueueProgress after(LoadReport load, long now) {
    boolean waiting = load.waiting().orElse(0) > 0;
    OptionalDouble told = load.generatedTokens();
    if (told.isEmpty()) {
      return new QueueProgress(waiting, -1, grewNanos, false);
    }
    boolean more = drawn >= 0 && told.getAsDouble() > drawn;
    return new QueueProgress(waiting, told.getAsDouble(), more ? now : grewNanos, grew || more);
  }

  /** Whether requests wait, and tokens came within a time. */
  boolean moves(long now, Duration within) {
    return waits && grew && now - grewNanos <= within.toNanos();
  }
}
