package io.troupe.ranks.protocol;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What a rank says to the coordinator: its answers, and signs of life while it obeys, from a thread
 * of its own. An answer is said as a whole, with the arrays that belong to it.
 */
public final class RankHeartbeat implements AutoCloseable {
  private final RankConnection line;
  private final Lock writeLock = new ReentrantLock();
  private final ScheduledExecutorService clock =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().daemon().name("rank-heartbeat").factory());
  private volatile boolean busy;

  /** What is said. */
  @FunctionalInterface
  public interface Write {
    void to(RankConnection line) throws IOException;
  }

  /**
   * A line on which nobody else speaks.
   *
   * @param pause between two signs
   */
  public RankHeartbeat(RankConnection line, Duration pause) {
    this.line = line;
    var _ =
        clock.scheduleAtFixedRate(
            this::beat, pause.toNanos(), pause.toNanos(), TimeUnit.NANOSECONDS);
  }

  public void setBusy(boolean now) {
    busy = now;
  }

  /** Says something, undisturbed. */
  public void write(Write sentence) throws IOException {
    writeLock.lock();
    try {
      sentence.to(line);
    } finally {
      writeLock.unlock();
    }
  }

  /** Sends a heartbeat unless the rank sends something else. */
  private void beat() {
    if (busy && writeLock.tryLock()) {
      try {
        line.send(new RankProtocol.Heartbeat());
      } catch (IOException gone) {
        busy = false; // The next order finds the connection broken.
      } finally {
        writeLock.unlock();
      }
    }
  }

  @Override
  public void close() {
    clock.shutdownNow();
  }
}
