package io.troupe.weights.transfer;

import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Closes connections without progress. Blocking sockets know no time limit of their own; to close
 * one from outside ends whatever call it is in.
 */
final class StallWatchdog implements AutoCloseable {
  private final ScheduledThreadPoolExecutor clock;

  StallWatchdog() {
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

  /**
   * Watches a connection until the watch is closed.
   *
   * @throws IOException if the watchdog is closed, so that a connection which comes at the end of a
   *     run ends like any other
   */
  Watch watch(Closeable connection, Duration period, long leastBytes) throws IOException {
    try {
      return new Watch(clock, connection, period, leastBytes);
    } catch (RejectedExecutionException closed) {
      throw new IOException("the run is over here", closed);
    }
  }

  @Override
  public void close() {
    clock.shutdownNow();
  }

  /** Counts what passes a connection, and closes it after a period with too little. */
  static final class Watch implements AutoCloseable {
    private final Closeable connection;
    private final long minBytes;
    private final AtomicLong bytes = new AtomicLong();
    private final ScheduledFuture<?> ticks;
    private long seen;
    private volatile boolean expired;

    private Watch(
        ScheduledThreadPoolExecutor clock, Closeable connection, Duration period, long least) {
      this.connection = connection;
      this.minBytes = least;
      this.ticks =
          clock.scheduleWithFixedDelay(
              this::check, period.toNanos(), period.toNanos(), TimeUnit.NANOSECONDS);
    }

    private void check() {
      long now = bytes.get();
      if (now - seen < minBytes) {
        expired = true;
        try {
          connection.close();
        } catch (IOException failure) {
          throw new UncheckedIOException(failure); // ends the ticks; the connection is lost anyway
        }
      }
      seen = now;
    }

    void add(long count) {
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
