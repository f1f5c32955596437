package io.troupe.ranks;

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
 * A rank's process on a node: it reports to the coordinator that its agent has named last, and
 * outlives coordinators. It receives the trainer's state from the coordinator whenever it begins,
 * so it need not know whether the coordinator is the same.
 */
public final class RankAgent {
  private static final Logger LOG = LoggerFactory.getLogger(RankAgent.class);
  private static final Duration RETRY = Duration.ofSeconds(1);

  private final RankWorker.RankIdentity self;
  private final TrainerRank rank;
  private final boolean keepsCopies;
  private final Lock lock = new ReentrantLock();
  private final Condition coordinatorChanged = lock.newCondition();
  private Optional<HostPort> coordinator = Optional.empty();
  private Optional<RankWorker> host = Optional.empty();

  /**
   * An agent that waits for the address of a coordinator.
   *
   * @param keepsCopies whether the rank keeps copies of the state after a step
   */
  public RankAgent(RankWorker.RankIdentity self, TrainerRank rank, boolean keepsCopies) {
    this.self = self;
    this.rank = rank;
    this.keepsCopies = keepsCopies;
  }

  /** Sets the address of the coordinator. */
  public void setCoordinator(HostPort next) {
    lock.lock();
    try {
      if (!coordinator.equals(Optional.of(next))) {
        coordinator = Optional.of(next);
        host.ifPresent(RankAgent::disconnect);
        coordinatorChanged.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }

  private static void disconnect(RankWorker host) {
    try {
      host.disconnect();
    } catch (IOException gone) {
      // The connection is closed.
    }
  }

  /**
   * Works for one coordinator after the other, until the thread is interrupted, or a coordinator
   * has given its number to another process.
   */
  public void work() throws InterruptedException {
    String trouble = "";
    while (true) {
      HostPort at = coordinator();
      try (RankWorker reported = RankWorker.report(at, self, rank, keepsCopies)) {
        LOG.info("event=rank_reported rank={} coordinator={}", self.number(), at);
        trouble = "";
        if (keep(reported, at)) {
          reported.work();
        }
        LOG.info("event=coordinator_disconnected rank={} coordinator={}", self.number(), at);
      } catch (RankWorker.RankEvictedException over) {
        LOG.warn("event=rank_evicted rank={} reason=\"{}\"", self.number(), over.getMessage());
        return;
      } catch (IOException gone) {
        if (!trouble.equals(gone.toString())) {
          LOG.warn("event=coordinator_lost rank={} reason=\"{}\"", self.number(), gone.toString());
        }
        trouble = gone.toString();
      }
      pause(at);
    }
  }

  private HostPort coordinator() throws InterruptedException {
    lock.lock();
    try {
      while (coordinator.isEmpty()) {
        coordinatorChanged.await();
      }
      return coordinator.get();
    } finally {
      lock.unlock();
    }
  }

  /** Whether the coordinator still has this address. */
  private boolean keep(RankWorker reported, HostPort at) {
    lock.lock();
    try {
      host = Optional.of(reported);
      return coordinator.equals(Optional.of(at));
    } finally {
      lock.unlock();
    }
  }

  private void pause(HostPort before) throws InterruptedException {
    long left = RETRY.toNanos();
    lock.lock();
    try {
      host = Optional.empty();
      while (coordinator.equals(Optional.of(before)) && left > TimeUnit.MILLISECONDS.toNanos(1)) {
        left = coordinatorChanged.awaitNanos(left);
      }
    } finally {
      lock.unlock();
    }
  }
}
