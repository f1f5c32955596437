package io.troupe.gateway.agent;

import io.troupe.base.failure.Causes;
import io.troupe.core.rollout.StopReason;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
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
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The processes of agents that may run at a time. */
final class AgentSlots implements AutoCloseable {
  /**
   * What ends a task beside its agent.
   *
   * @param timeout of the task
   * @param stop completes when the task's lease is cancelled
   * @param failure completes with what failed beneath the task
   */
  record Limits(
      Duration timeout, CompletableFuture<Void> stop, CompletionStage<Throwable> failure) {}

  private final List<String> command;
  private final int tasksPerProcess;

  private final Deque<CompletableFuture<Boolean>> waiting = new ArrayDeque<>(); // by this
  private final Deque<Slot> idle = new ArrayDeque<>();
  private final Set<AgentProcess> running = new HashSet<>();
  private int free;
  private boolean closed;

  AgentSlots(List<String> command, int count, int tasksPerProcess) {
    this.command = command;
    this.tasksPerProcess = tasksPerProcess;
    this.free = count;
  }

  /** Waits for a slot; returns nothing if the task is cancelled before. */
  Optional<Slot> take(CompletableFuture<Void> stop) {
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
  final class Slot implements AutoCloseable {
    private Optional<AgentProcess> process = Optional.empty();
    private int tasks;

    boolean isForOneTask() {
      return tasksPerProcess == 1;
    }

    private boolean isUsable() {
      return tasks < tasksPerProcess && process.filter(AgentProcess::isAlive).isPresent();
    }

    /**
     * Runs a task to its end.
     *
     * @throws CancellationException if its lease was cancelled
     * @throws AgentFailedException if the program cannot be started
     */
    StopReason run(String line, Map<String, String> variables, Limits limits) {
      if (!isUsable()) {
        end();
        process = Optional.of(started(variables));
        tasks = 0;
      }
      tasks++;
      AgentProcess agent = process.orElseThrow();
      CompletionStage<Optional<Integer>> ended = agent.begin(line, tasks == tasksPerProcess);
      CompletableFuture<Throwable> failure = limits.failure().toCompletableFuture();
      try {
        CompletableFuture.anyOf(ended.toCompletableFuture(), limits.stop(), failure)
            .get(limits.timeout().toMillis(), TimeUnit.MILLISECONDS);
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
      if (limits.stop().isDone()) {
        end();
        throw new CancellationException("the lease of the agent was cancelled");
      }
      return StopReason.COMPLETED;
    }

    private AgentProcess started(Map<String, String> variables) {
      try {
        AgentProcess agent = AgentProcess.start(command, variables);
        synchronized (AgentSlots.this) {
          running.add(agent);
        }
        return agent;
      } catch (IOException notThere) {
        throw new AgentFailedException(
            "the agent %s cannot be started: %s".formatted(command, notThere.getMessage()));
      }
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

  /** Ends all processes. */
  @Override
  public void close() {
    List<AgentProcess> left;
    synchronized (this) {
      closed = true;
      waiting.forEach(turn -> turn.complete(false));
      left = List.copyOf(running);
    }
    left.forEach(AgentProcess::close);
  }
}
