package io.troupe.ranks;

import io.troupe.base.net.HostPort;
import io.troupe.net.link.ConnectionFactory;
import io.troupe.net.secret.RunSecret;
import io.troupe.ranks.protocol.RankClient;
import io.troupe.ranks.protocol.RankListener;
import io.troupe.ranks.protocol.RankListener.Acceptance;
import io.troupe.ranks.protocol.RankProtocol;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where the ranks that nodes start report to the coordinator, and wait to be called. Only those of
 * nodes that the coordinator knows may. Of two processes that claim the same number the later one
 * has it: its agent has started it since; the other one is asked to end when it comes again. Safe
 * for all threads.
 */
public final class RankRegistry implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RankRegistry.class);

  private final int ranks;
  private final RankListener rankListener;
  private final Lock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final SortedMap<Integer, RemoteRank> present = new TreeMap<>();

  /** How many agents of each name are there: a new one may come before the old one is missed. */
  private final Map<String, Integer> nodes = new HashMap<>();

  private final Set<RankProtocol.Report> evicted = new HashSet<>();
  private final List<ProcessStopper> stoppers = new ArrayList<>();
  private boolean closed;

  /** Ends a process of a node. */
  @FunctionalInterface
  public interface ProcessStopper {
    /** Has the node's agent end it, if it has this pid. */
    void end(String node, String process, long pid);
  }

  private RankRegistry(
      int ranks, ConnectionFactory endpoint, HostPort at, RunSecret secret, Duration silence)
      throws IOException {
    this.ranks = ranks;
    this.rankListener = RankListener.open(endpoint, at, secret, silence, this::onReport);
  }

  /**
   * Opens it.
   *
   * @param ranks how many there may be
   * @param at where it listens; port 0 takes a free one
   * @param secret that the run's processes know
   * @throws IOException if nothing can listen there, or may
   */
  public static RankRegistry open(
      int ranks, ConnectionFactory endpoint, HostPort at, RunSecret secret) throws IOException {
    return open(ranks, endpoint, at, secret, RankClient.HEARTBEAT_TIMEOUT);
  }

  /** Opens a registry with another limit of silence. */
  static RankRegistry open(
      int ranks, ConnectionFactory endpoint, HostPort at, RunSecret secret, Duration silence)
      throws IOException {
    return new RankRegistry(ranks, endpoint, at, secret, silence);
  }

  /** Where ranks report. */
  public HostPort address() {
    return rankListener.address();
  }

  /** How many ranks there may be. */
  int ranks() {
    return ranks;
  }

  private Acceptance onReport(RankProtocol.Report report, RankClient call) {
    Optional<RemoteRank> before = Optional.empty();
    lock.lock();
    try {
      if (closed || report.rank() < 0 || report.rank() >= ranks) {
        return new Acceptance.RetryLater("no such rank is awaited: " + report);
      }
      if (!nodes.containsKey(report.node())) {
        return new Acceptance.RetryLater("no node is there that has started it: " + report);
      }
      if (evicted.contains(report)) {
        return new Acceptance.Evicted("another process has its number: " + report);
      }
      LOG.info(
          "event=rank_reported rank={} node={} process={} pid={}",
          report.rank(),
          report.node(),
          report.process(),
          report.pid());
      before = Optional.ofNullable(present.put(report.rank(), new RemoteRank(report, call, this)));
      before.map(RemoteRank::report).filter(other -> !other.equals(report)).ifPresent(evicted::add);
      changed.signalAll();
      return new Acceptance.Accepted();
    } finally {
      lock.unlock();
      before.ifPresent(RemoteRank::disconnect);
    }
  }

  /** An agent of a node is there, and may start ranks. */
  public void joined(String node) {
    lock.lock();
    try {
      nodes.merge(node, 1, Integer::sum);
    } finally {
      lock.unlock();
    }
  }

  /**
   * An agent is gone, and with it the ranks it had, unless another one of its name has come: some
   * may be that one's, and those of a process that is gone are missed by themselves. Returns before
   * the ranks are told.
   */
  public void left(String node) {
    List<RemoteRank> gone;
    lock.lock();
    try {
      if (nodes.computeIfPresent(node, (_, agents) -> agents > 1 ? agents - 1 : null) != null) {
        return;
      }
      gone = present.values().stream().filter(slot -> slot.node().equals(node)).toList();
      present.values().removeAll(gone);
    } finally {
      lock.unlock();
    }
    disconnectLater(gone);
  }

  /** A TLS connection may take a second to close; the thread that reports has more to do. */
  private static void disconnectLater(List<RemoteRank> slots) {
    slots.forEach(slot -> Thread.ofVirtual().start(slot::disconnect));
  }

  /** Sets what ends processes of nodes. */
  public void stopProcessesWith(ProcessStopper ender) {
    lock.lock();
    try {
      stoppers.add(ender);
    } finally {
      lock.unlock();
    }
  }

  /** Has a process ended that does not answer. */
  void end(RankProtocol.Report report) {
    lock.lock();
    try {
      stoppers.forEach(ender -> ender.end(report.node(), report.process(), report.pid()));
    } finally {
      lock.unlock();
    }
  }

  /** Returns the ranks that are there, by number. */
  List<RemoteRank> present() {
    lock.lock();
    try {
      present.values().removeIf(slot -> !slot.open());
      return List.copyOf(present.values());
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits until all are there, or the time is over; those that are there then, by number.
   *
   * @throws IOException once it is closed: nobody comes any more
   */
  List<RemoteRank> await(Duration patience) throws InterruptedException, IOException {
    long left = patience.toNanos();
    lock.lock();
    try {
      while (!closed && present().size() < ranks && left > 0) {
        left = changed.awaitNanos(left);
      }
      if (closed) {
        throw new IOException("this process is the coordinator no more, or is stopped");
      }
      return present();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Closes the connections; the ranks wait for another coordinator, and a thread that awaits them
   * here is notified.
   */
  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      disconnectLater(List.copyOf(present.values()));
      present.clear();
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    rankListener.close();
  }
}
