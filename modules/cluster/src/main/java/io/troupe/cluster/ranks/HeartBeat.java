package io.troupe.cluster.ranks;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What a rank says to the head: its answers, and signs of life while it obeys, from a thread of its
 * own. An answer is said as a whole, with the arrays that belong to it.
 */
final class HeartBeat implements AutoCloseable {
  private final RankLine line;
  private final Lock saying = new ReentrantLock();
  private final ScheduledExecutorService clock =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().daemon().name("rank-heartbeat").factory());
  private volatile boolean obeying;

  /** What is said. */
  @FunctionalInterface
  interface Sentence {
    void to(RankLine line) throws IOException;
  }

  /**
   * A line on which nobody else speaks.
   *
   * @param pause between two signs
   */
  HeartBeat(RankLine line, Duration pause) {
    this.line = line;
    var _ =
        clock.scheduleAtFixedRate(
            this::beat, pause.toNanos(), pause.toNanos(), TimeUnit.NANOSECONDS);
  }

  void obeys(boolean now) {
    obeying = now;
  }

  /** Says something, undisturbed. */
  void say(Sentence sentence) throws IOException {
    saying.lock();
    try {
      sentence.to(line);
    } finally {
      saying.unlock();
    }
  }

  /** Who speaks needs no other sign of life. */
  private void beat() {
    if (obeying && saying.tryLock()) {
      try {
        line.say(new RankTalk.Alive());
      } catch (IOException gone) {
        obeying = false; // Whoever hears the next order finds the line broken.
      } finally {
        saying.unlock();
      }
    }
  }

  @Override
  public void close() {
    clock.shutdownNow();
  }
}
