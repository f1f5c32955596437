package io.troupe.environments.command;

import io.troupe.base.failure.Causes;
import io.troupe.environments.EnvironmentFailedException;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;
import java.util.function.IntFunction;

/**
 * The child processes that may run at a time. All are started by one thread, because Linux ends a
 * sandbox with the thread that started it.
 *
 * @param <P> a process
 */
public final class ProcessSlots<P> implements AutoCloseable {
  private final Semaphore free;
  private final IntFunction<P> start;
  private final Consumer<P> end;
  private final ExecutorService starter;
  private final Set<P> running = new HashSet<>(); // guarded by this
  private int started; // guarded by this
  private boolean closed; // guarded by this

  /**
   * Slots without processes.
   *
   * @param name of the thread that starts them
   * @param start makes the process of an ordinal, which rises with every start
   * @param end ends a process with all it has started
   */
  public ProcessSlots(String name, int count, IntFunction<P> start, Consumer<P> end) {
    this.free = new Semaphore(count, true);
    this.start = start;
    this.end = end;
    this.starter =
        Executors.newSingleThreadExecutor(Thread.ofPlatform().name(name).daemon().factory());
  }

  /** Waits for a slot. */
  public void acquire() {
    free.acquireUninterruptibly();
  }

  /** Gives a slot back. */
  public void release() {
    free.release();
  }

  /**
   * Starts a process in a slot.
   *
   * @throws EnvironmentFailedException if it cannot be started, or all is closed
   */
  public P start() {
    return start(start);
  }

  /**
   * Starts a process of another kind in a slot.
   *
   * @throws EnvironmentFailedException if it cannot be started, or all is closed
   */
  public P start(IntFunction<P> other) {
    int ordinal;
    synchronized (this) {
      ordinal = started++;
    }
    P process;
    try {
      process = Causes.joined(CompletableFuture.supplyAsync(() -> other.apply(ordinal), starter));
    } catch (RejectedExecutionException late) {
      throw new EnvironmentFailedException("the environments are closed", late);
    }
    synchronized (this) {
      running.add(process);
      if (!closed) {
        return process;
      }
    }
    end.accept(process);
    throw new EnvironmentFailedException("the environments are closed");
  }

  /** Whether nothing can be started any more. */
  public synchronized boolean isClosed() {
    return closed;
  }

  /** Ends a process. */
  public void end(P process) {
    synchronized (this) {
      running.remove(process);
    }
    end.accept(process);
  }

  /** Ends all processes. */
  @Override
  public void close() {
    Set<P> left;
    synchronized (this) {
      closed = true;
      left = Set.copyOf(running);
    }
    left.forEach(end);
    starter.shutdown();
  }
}
