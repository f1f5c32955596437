package io.troupe.environments.command;

import io.troupe.base.failure.Causes;
import io.troupe.environments.Environment;
import io.troupe.environments.EnvironmentFailedException;
import io.troupe.environments.EnvironmentPool;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;

/**
 * The processes of an environment's program. Each serves one episode at a time, and then the next
 * one; an episode waits while all are taken.
 */
final class CommandPool implements EnvironmentPool {
  private final ProgramSettings settings;
  private final Semaphore free;

  /** All children are started by one thread, because they end with it. */
  private final ExecutorService starter =
      Executors.newSingleThreadExecutor(
          Thread.ofPlatform().name("environments").daemon().factory());

  private final Deque<JsonLineProgram> idle = new ArrayDeque<>(); // guarded by this
  private final Set<JsonLineProgram> running = new HashSet<>(); // guarded by this
  private boolean closed; // guarded by this

  CommandPool(ProgramSettings settings) {
    this.settings = settings;
    this.free = new Semaphore(settings.count(), true);
  }

  @Override
  public Environment newEnvironment() {
    return new CommandEnvironment(this, settings);
  }

  /**
   * Takes a process; blocks while there is none.
   *
   * @throws EnvironmentFailedException if it cannot be started, or the pool is closed
   */
  JsonLineProgram take() {
    free.acquireUninterruptibly();
    try {
      synchronized (this) {
        while (!idle.isEmpty()) {
          JsonLineProgram waiting = idle.pop();
          if (waiting.isAlive()) {
            return waiting;
          }
          running.remove(waiting);
        }
      }
      JsonLineProgram started =
          Causes.joined(
              CompletableFuture.supplyAsync(() -> EnvironmentProcess.start(settings), starter));
      keep(started);
      return started;
    } catch (EnvironmentFailedException failure) {
      free.release();
      throw failure;
    } catch (RejectedExecutionException late) {
      free.release();
      throw new EnvironmentFailedException("the environments are closed", late);
    }
  }

  private void keep(JsonLineProgram started) {
    synchronized (this) {
      running.add(started);
      if (!closed) {
        return;
      }
    }
    started.close();
    throw new EnvironmentFailedException("the environments are closed");
  }

  /** Takes a process back; one that ended is replaced by the next episode. */
  void give(JsonLineProgram program) {
    synchronized (this) {
      if (program.isAlive() && !closed) {
        idle.push(program);
      } else {
        running.remove(program);
        program.close();
      }
    }
    free.release();
  }

  @Override
  public void close() {
    Set<JsonLineProgram> left;
    synchronized (this) {
      closed = true;
      left = Set.copyOf(running);
    }
    left.forEach(JsonLineProgram::close);
    starter.shutdown();
  }
}
