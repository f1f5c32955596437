package io.troupe.cluster.ranks;

import io.troupe.base.net.HostPort;
import io.troupe.engine.parallel.TrainerRank;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A rank's process on a node: it works for whichever head its agent has named last, and outlives
 * heads. What it has of a run it takes from a head each time it begins, so it need not know whether
 * that is the same one.
 */
public final class RankPost {
  private static final Logger LOG = LoggerFactory.getLogger(RankPost.class);
  private static final Duration RETRY = Duration.ofSeconds(1);

  private final RankHost.Self self;
  private final TrainerRank rank;
  private final Lock lock = new ReentrantLock();
  private final Condition told = lock.newCondition();
  private Optional<HostPort> head = Optional.empty();
  private Optional<RankHost> host = Optional.empty();

  /** A post that waits to be told of a head. */
  public RankPost(RankHost.Self self, TrainerRank rank) {
    this.self = self;
    this.rank = rank;
  }

  /** Tells it where the head is. */
  public void goTo(HostPort next) {
    lock.lock();
    try {
      if (!head.equals(Optional.of(next))) {
        head = Optional.of(next);
        host.ifPresent(RankPost::hangUp);
        told.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }

  private static void hangUp(RankHost host) {
    try {
      host.hangUp();
    } catch (IOException gone) {
      // It is closed.
    }
  }

  /**
   * Works for one head after the other, until the thread is interrupted, or a head has given its
   * number to another process.
   */
  public void work() throws InterruptedException {
    String trouble = "";
    while (true) {
      HostPort at = head();
      try (RankHost reported = RankHost.report(at, self, rank)) {
        LOG.info("event=rank_reported rank={} head={}", self.number(), at);
        trouble = "";
        if (keep(reported, at)) {
          reported.work();
        }
        LOG.info("event=head_hung_up rank={} head={}", self.number(), at);
      } catch (RankHost.DismissedException over) {
        LOG.warn("event=rank_dismissed rank={} reason=\"{}\"", self.number(), over.getMessage());
        return;
      } catch (IOException gone) {
        if (!trouble.equals(gone.toString())) {
          LOG.warn("event=head_lost rank={} reason=\"{}\"", self.number(), gone.toString());
        }
        trouble = gone.toString();
      }
      pause(at);
    }
  }

  private HostPort head() throws InterruptedException {
    lock.lock();
    try {
      while (head.isEmpty()) {
        told.await();
      }
      return head.get();
    } finally {
      lock.unlock();
    }
  }

  /** Whether the head is still this one. */
  private boolean keep(RankHost reported, HostPort at) {
    lock.lock();
    try {
      host = Optional.of(reported);
      return head.equals(Optional.of(at));
    } finally {
      lock.unlock();
    }
  }

  private void pause(HostPort before) throws InterruptedException {
    long left = RETRY.toNanos();
    lock.lock();
    try {
      host = Optional.empty();
      while (head.equals(Optional.of(before)) && left > TimeUnit.MILLISECONDS.toNanos(1)) {
        left = told.awaitNanos(left);
      }
    } finally {
      lock.unlock();
    }
  }
}
