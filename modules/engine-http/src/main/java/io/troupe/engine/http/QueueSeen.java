package io.troupe.engine.http;

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
record QueueSeen(boolean waits, double drawn, long grewNanos, boolean grew) {
  /** Nothing was told. */
  static final QueueSeen NONE = new QueueSeen(false, -1, 0, false);

  QueueSeen after(LoadReport load, long now) {
    boolean waiting = load.waiting().orElse(0) > 0;
    OptionalDouble told = load.drawn();
    if (told.isEmpty()) {
      return new QueueSeen(waiting, -1, grewNanos, false);
    }
    boolean more = drawn >= 0 && told.getAsDouble() > drawn;
    return new QueueSeen(waiting, told.getAsDouble(), more ? now : grewNanos, grew || more);
  }

  /** Whether requests wait, and tokens came within a time. */
  boolean moves(long now, Duration within) {
    return waits && grew && now - grewNanos <= within.toNanos();
  }
}
