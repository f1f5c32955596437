package io.troupe.gateway.agent;

import io.troupe.base.failure.Causes;
import io.troupe.core.rollout.StopReason;
import io.troupe.gateway.GatewayServer;
import io.troupe.gateway.GatewaySession;
import io.troupe.net.link.SocketRelay;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The processes of agents that may run at a time. */
final class AgentSlots implements AgentRunner {
  private static final Logger LOG = LoggerFactory.getLogger(AgentSlots.class);

  private final AgentSource.Program program;
  private final GatewayServer server;

  /** The relay of agents in sandboxes. */
  private final Optional<SocketRelay> relay;

  /** Sandboxes are started by one thread, because each ends with the thread that started it. */
  private final ExecutorService starter =
      Executors.newSingleThreadExecutor(Thread.ofPlatform().name("agents").daemon().factory());

  private final Deque<CompletableFuture<Boolean>> waiting = new ArrayDeque<>(); // by this
  private final Deque<Slot> idle = new ArrayDeque<>();
  private final Set<AgentProcess> running = new HashSet<>();
  private int free;
  private boolean closed;

  /**
   * Starts no process yet.
   *
   * @param server closed with this
   */
  AgentSlots(AgentSource.Program program, GatewayServer server) throws IOException {
    this.program = program;
    this.server = server;
    this.relay =
        program.sandbox().isEmpty()
            ? Optional.empty()
            : Optional.of(AgentSandbox.relay(server.port()));
    this.free = program.count();
  }

  @Override
  public GatewayServer server() {
    return server;
  }

  @Override
  public String awaited() {
    return "a free agent process";
  }

  @Override
  public AgentEnd run(
      AgentTask task, GatewaySession session, CompletableFuture<Void> stop, Runnable begun) {
    Optional<Slot> taken = take(stop);
    if (taken.isEmpty()) {
      throw new CancellationException("the lease was cancelled before an agent was free");
    }
    begun.run();
    try (Slot slot = taken.get()) {
      StopReason reason = slot.run(task, session, stop);
      return new Ended(reason, session.turns() == 0 ? slot.lastOutput() : "");
    }
  }

  /** Waits for a slot; returns nothing if the task is cancelled before. */
  private Optional<Slot> take(CompletableFuture<Void> stop) {
    CompletableFuture<Boolean> turn = new CompletableFuture<>();
    synchronized (this) {
      if (closed || stop.isDone()) {
        return Optional.empty();
      }
      if (free > 0) {
        free--;
        turn.complete(true);
      } else {
        waiting.add(turn);
      }
    }
    var _ = stop.thenRun(() -> turn.complete(false));
    if (!turn.join()) {
      return Optional.empty();
    }
    synchronized (this) {
      Slot slot = idle.poll();
      return Optional.of(slot == null ? new Slot() : slot);
    }
  }

  private synchronized void give(Slot slot) {
    if (slot.isUsable() && !closed) {
      idle.add(slot);
    } else {
      slot.end();
    }
    while (!waiting.isEmpty()) {
      if (waiting.poll().complete(true)) {
        return;
      }
    }
    free++;
  }

  /** The right to run one process, and the process where one waits for its next task. */
  private final class Slot implements AutoCloseable {
    private Optional<AgentProcess> process = Optional.empty();
    private int tasks;

    private boolean isUsable() {
      return tasks < program.tasksPerProcess() && process.filter(AgentProcess::isAlive).isPresent();
    }

    /**
     * Runs a task to its end.
     *
     * @throws CancellationException if its lease was cancelled
     * @throws AgentFailedException if the program cannot be started
     */
    StopReason run(AgentTask task, GatewaySession session, CompletableFuture<Void> stop) {
      String url = server.url(session);
      if (!isUsable()) {
        end();
        process = Optional.of(started(variables(task, url)));
        tasks = 0;
      }
      tasks++;
      AgentProcess agent = process.orElseThrow();
      CompletionStage<Optional<Integer>> ended =
          agent.begin(task.json(url).toString(), tasks == program.tasksPerProcess());
      CompletableFuture<Throwable> failure = session.failure().toCompletableFuture();
      try {
        CompletableFuture.anyOf(ended.toCompletableFuture(), stop, failure)
            .get(task.timeout().toMillis(), TimeUnit.MILLISECONDS);
      } catch (TimeoutException slow) {
        end();
        return StopReason.TIMEOUT;
      } catch (ExecutionException impossible) {
        throw new IllegalStateException(impossible);
      } catch (InterruptedException stopped) {
        Thread.currentThread().interrupt();
        throw new CancellationException("the agent was interrupted");
      }
      if (failure.isDone()) {
        end();
        throw new CompletionException(Causes.inside(failure.join(), List.of()));
      }
      if (stop.isDone()) {
        end();
        throw new CancellationException("the lease of the agent was cancelled");
      }
      return StopReason.COMPLETED;
    }

    /** A process of several tasks has no key of one of them in its environment. */
    private Map<String, String> variables(AgentTask task, String url) {
      Map<String, String> variables = new HashMap<>(program.environment());
      if (program.tasksPerProcess() == 1) {
        variables.putAll(task.variables(url));
      }
      return variables;
    }

    private AgentProcess started(Map<String, String> variables) {
      CompletableFuture<AgentProcess> begun =
          CompletableFuture.supplyAsync(() -> start(variables), starter);
      try {
        AgentProcess agent = begun.join();
        synchronized (AgentSlots.this) {
          running.add(agent);
        }
        return agent;
      } catch (CompletionException failure) {
        throw Causes.unchecked(failure);
      }
    }

    private AgentProcess start(Map<String, String> variables) {
      try {
        return AgentProcess.start(command(), variables);
      } catch (IOException notThere) {
        throw new AgentFailedException(
            "the agent %s cannot be started: %s"
                .formatted(program.command(), notThere.getMessage()));
      }
    }

    private List<String> command() throws IOException {
      return relay.isEmpty()
          ? program.command()
          : program.sandbox().getFirst().command(program.command(), relay.get(), server.port());
    }

    String lastOutput() {
      return process.map(AgentProcess::lastOutput).orElse("");
    }

    private void end() {
      process.ifPresent(
          agent -> {
            agent.close();
            synchronized (AgentSlots.this) {
              running.remove(agent);
            }
          });
    }

    /** Gives the slot to the next task. */
    @Override
    public void close() {
      give(this);
    }
  }

  /** Ends all processes, and the gateway. */
  @Override
  public void close() {
    List<AgentProcess> left;
    synchronized (this) {
      closed = true;
      waiting.forEach(turn -> turn.complete(false));
      left = List.copyOf(running);
    }
    left.forEach(AgentProcess::close);
    starter.shutdown();
    server.close();
    relay.ifPresent(AgentSlots::closeRelay);
  }

  private static void closeRelay(SocketRelay relay) {
    try {
      relay.close();
    } catch (IOException left) {
      LOG.warn("the socket of sandboxes cannot be removed", left);
    }
  }
}
