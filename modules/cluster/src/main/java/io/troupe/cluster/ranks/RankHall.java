package io.troupe.cluster.ranks;

import io.troupe.cluster.HostPort;
import io.troupe.cluster.link.Endpoint;
import io.troupe.cluster.secret.RunSecret;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where the ranks that nodes start report to the head, and wait to be called. Of two that claim the
 * same number the later one has it: its agent has started it since. Safe for all threads.
 */
public final class RankHall implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RankHall.class);

  private final int ranks;
  private final RankReception reception;
  private final Lock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final SortedMap<Integer, NodeSeat> present = new TreeMap<>();
  private final List<Ender> enders = new ArrayList<>();
  private boolean closed;

  /** Ends a process of a node. */
  @FunctionalInterface
  public interface Ender {
    /** Has the node's agent end it, if it has this pid. */
    void end(String node, String process, long pid);
  }

  private RankHall(int ranks, Endpoint endpoint, HostPort at, RunSecret secret) throws IOException {
    this.ranks = ranks;
    this.reception = RankReception.open(endpoint, at, secret, this::came);
  }

  /**
   * Opens it.
   *
   * @param ranks how many there may be
   * @param at where it listens; port 0 takes a free one
   * @param secret that the run's processes know
   * @throws IOException if nothing can listen there, or may
   */
  public static RankHall open(int ranks, Endpoint endpoint, HostPort at, RunSecret secret)
      throws IOException {
    return new RankHall(ranks, endpoint, at, secret);
  }

  /** Where ranks report. */
  public HostPort address() {
    return reception.address();
  }

  /** How many ranks there may be. */
  int ranks() {
    return ranks;
  }

  private boolean came(RankTalk.Report report, RankCall call) {
    lock.lock();
    try {
      if (closed || report.rank() < 0 || report.rank() >= ranks) {
        return false;
      }
      LOG.info(
          "event=rank_reported rank={} node={} process={} pid={}",
          report.rank(),
          report.node(),
          report.process(),
          report.pid());
      NodeSeat before = present.put(report.rank(), new NodeSeat(report, call, this));
      if (before != null) {
        before.hangUp();
      }
      changed.signalAll();
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** A node is gone, and with it the ranks it had. */
  public void left(String node) {
    lock.lock();
    try {
      present.values().stream().filter(seat -> seat.node().equals(node)).forEach(NodeSeat::hangUp);
    } finally {
      lock.unlock();
    }
  }

  /** Who can end processes of nodes. */
  public void endBy(Ender ender) {
    lock.lock();
    try {
      enders.add(ender);
    } finally {
      lock.unlock();
    }
  }

  /** Has a process ended that does not answer. */
  void end(RankTalk.Report report) {
    lock.lock();
    try {
      enders.forEach(ender -> ender.end(report.node(), report.process(), report.pid()));
    } finally {
      lock.unlock();
    }
  }

  /** Those that are there, by number. */
  List<NodeSeat> present() {
    lock.lock();
    try {
      present.values().removeIf(seat -> !seat.open());
      return List.copyOf(present.values());
    } finally {
      lock.unlock();
    }
  }

  /** Waits until all are there, or the time is over; those that are there then, by number. */
  List<NodeSeat> await(Duration patience) throws InterruptedException {
    long left = patience.toNanos();
    lock.lock();
    try {
      while (present().size() < ranks && left > 0) {
        left = changed.awaitNanos(left);
      }
      return present();
    } finally {
      lock.unlock();
    }
  }

  /** Hangs up; the ranks wait for another head. */
  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      present.values().forEach(NodeSeat::hangUp);
      present.clear();
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    reception.close();
  }
}
