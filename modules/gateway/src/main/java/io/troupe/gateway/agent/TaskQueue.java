package io.troupe.gateway.agent;

import io.troupe.gateway.GatewaySession;
import io.troupe.gateway.RefusedTurnException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Tasks that wait for agents, and tasks that agents have, first come, first served. As many tasks
 * wait as episodes are under lease, and no more; agents that wait are bounded here.
 *
 * <p>A task is handed out once. An agent that has not got the answer asks again with the number of
 * its request, and is given the same task while nothing was sampled for it.
 */
final class TaskQueue implements AutoCloseable {
  /** Agents that wait; others are told to come back. */
  static final int MOST_WAITING = 256;

  /** An agent's report at the end of a task. */
  record Report(String failure) {}

  /** A task, until it is withdrawn. */
  static final class OfferedTask {
    private final AgentTask task;
    private final GatewaySession session;
    private String request = ""; // guarded by the queue
    private final CompletableFuture<Void> taken = new CompletableFuture<>();
    private final CompletableFuture<Report> reported = new CompletableFuture<>();
    private final CompletableFuture<Void> undelivered = new CompletableFuture<>();
    private volatile long lastSignNanos = System.nanoTime();

    private OfferedTask(AgentTask task, GatewaySession session) {
      this.task = task;
      this.session = session;
    }

    AgentTask task() {
      return task;
    }

    /** Completes when an agent has the task. */
    CompletableFuture<Void> taken() {
      return taken;
    }

    /** Completes when the agent says that it is done. */
    CompletableFuture<Report> reported() {
      return reported;
    }

    /** Completes if the agent that asked for the task was not there to read it. */
    CompletableFuture<Void> undelivered() {
      return undelivered;
    }

    /** Returns the time for which the agent has given no sign of life. */
    Duration silence() {
      Duration own = Duration.ofNanos(System.nanoTime() - lastSignNanos);
      Duration asking = session.silence();
      return own.compareTo(asking) < 0 ? own : asking;
    }

    private void sign() {
      lastSignNanos = System.nanoTime();
    }
  }

  private final Deque<OfferedTask> offered = new ArrayDeque<>(); // guarded by this, as all below
  private final Map<String, CompletableFuture<Optional<OfferedTask>>> agents =
      new LinkedHashMap<>();
  private final Map<String, OfferedTask> handed = new HashMap<>();
  private final Map<String, OfferedTask> byRequest = new HashMap<>();
  private boolean closed;

  /** Offers a task to the agent that has waited longest, or to the next that asks. */
  synchronized OfferedTask offer(AgentTask task, GatewaySession session) {
    OfferedTask offer = new OfferedTask(task, session);
    var waiting = agents.entrySet().iterator();
    if (waiting.hasNext()) {
      var first = waiting.next();
      waiting.remove();
      hand(offer, first.getKey());
      first.getValue().complete(Optional.of(offer));
    } else {
      offered.add(offer);
    }
    return offer;
  }

  private void hand(OfferedTask offer, String request) {
    handed.put(offer.task().key().id(), offer);
    byRequest.put(request, offer);
    offer.request = request;
    offer.sign();
    offer.taken.complete(null);
  }

  /**
   * Waits for a task.
   *
   * @param request number of the agent's own, the same in each repetition of a request
   * @return empty if there is none meanwhile
   * @throws RefusedTurnException if too many agents wait
   */
  Optional<OfferedTask> next(String request, Duration patience)
      throws RefusedTurnException, InterruptedException {
    CompletableFuture<Optional<OfferedTask>> turn = new CompletableFuture<>();
    synchronized (this) {
      OfferedTask former = byRequest.get(request);
      if (former != null && former.session.turns() == 0) {
        former.sign();
        return Optional.of(former);
      }
      OfferedTask first = offered.poll();
      if (first != null) {
        hand(first, request);
        return Optional.of(first);
      }
      if (closed) {
        return Optional.empty();
      }
      CompletableFuture<Optional<OfferedTask>> before = agents.remove(request);
      if (before != null) {
        before.complete(Optional.empty());
      }
      if (agents.size() >= MOST_WAITING) {
        throw new RefusedTurnException(
            503, "busy", "%d agents wait for tasks; ask again later".formatted(MOST_WAITING));
      }
      agents.put(request, turn);
    }
    try {
      return turn.get(patience.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException none) {
      synchronized (this) {
        agents.remove(request, turn);
        return turn.getNow(Optional.empty());
      }
    } catch (ExecutionException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  /** An agent is at work; returns its task if it is not over. */
  synchronized Optional<OfferedTask> sign(String id) {
    Optional<OfferedTask> found = Optional.ofNullable(handed.get(id));
    found.ifPresent(OfferedTask::sign);
    return found;
  }

  /** An agent is done; returns whether its task was not over. */
  synchronized boolean report(String id, Report report) {
    OfferedTask found = handed.get(id);
    return found != null && found.reported.complete(report);
  }

  /** A task is over. */
  synchronized void withdraw(OfferedTask task) {
    offered.remove(task);
    handed.remove(task.task().key().id());
    byRequest.remove(task.request, task);
  }

  /** Sends waiting agents away. */
  @Override
  public synchronized void close() {
    closed = true;
    agents.values().forEach(agent -> agent.complete(Optional.empty()));
    agents.clear();
  }
}
