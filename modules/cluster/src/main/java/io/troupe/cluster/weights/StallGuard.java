package io.troupe.cluster.weights;

import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Closes connections that do not get on. Blocking sockets know no time limit of their own; to close
 * one from outside ends whatever call it is in.
 */
final class StallGuard implements AutoCloseable {
  private final ScheduledThreadPoolExecutor clock;

  StallGuard() {
    clock =
        new ScheduledThreadPoolExecutor(
            1,
            task -> {
              Thread thread = new Thread(task, "weights-stall-guard");
              thread.setDaemon(true);
              return thread;
            });
    clock.setRemoveOnCancelPolicy(true);
  }

  /** Watches a connection until the watch is closed. */
  Watch watch(Closeable connection, Duration period, long leastBytes) {
    return new Watch(clock, connection, period, leastBytes);
  }

  @Override
  public void close() {
    clock.shutdownNow();
  }

  /** Counts what passes a connection, and closes it after a period with too little. */
  static final class Watch implements AutoCloseable {
    private final Closeable connection;
    private final long least;
    private final AtomicLong bytes = new AtomicLong();
    private final ScheduledFuture<?> ticks;
    private long seen;
    private volatile boolean expired;

    private Watch(
        ScheduledThreadPoolExecutor clock, Closeable connection, Duration period, long least) {
      this.connection = connection;
      this.least = least;
      this.ticks =
          clock.scheduleWithFixedDelay(
              this::look, period.toNanos(), period.toNanos(), TimeUnit.NANOSECONDS);
    }

    private void look() {
      long now = bytes.get();
      if (now - seen < least) {
        expired = true;
        try {
          connection.close();
        } catch (IOException failure) {
          throw new UncheckedIOException(failure); // ends the ticks; the connection is lost anyway
        }
      }
      seen = now;
    }

    void passed(long count) {
      bytes.addAndGet(count);
    }

    /** Whether the watch closed the connection. */
    boolean expired() {
      return expired;
    }

    @Override
    public void close() {
      ticks.cancel(false);
    }
  }
}
