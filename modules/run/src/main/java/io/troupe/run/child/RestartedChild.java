package io.troupe.run.child;

import io.troupe.base.failure.Causes;
import io.troupe.base.process.ChildProcesses;
import io.troupe.base.process.ChildSpec;
import io.troupe.core.outage.RestartBackoff;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A child process that is started again whenever it ends, after a pause that grows, until it is
 * asked to finish. It never outlives this process, because its standard input is a pipe from here.
 */
public final class RestartedChild implements AutoCloseable {
  /** Specifies the child, once for each start. */
  @FunctionalInterface
  public interface Start {
    /**
     * The specification of the next start. Blocks.
     *
     * @throws IOException if it cannot be started now
     */
    ChildSpec next() throws IOException;
  }

  private final String name;
  private final String title;
  private final Consumer<String> say;
  private final ChildProcesses children = new ChildProcesses();
  private final Object lock = new Object();
  private RestartBackoff backoff = RestartBackoff.none(RestartBackoff.Settings.DEFAULT);
  private @Nullable CompletableFuture<ChildProcesses.Exit> running;
  private boolean closing;

  /**
   * A child that is not started yet.
   *
   * @param name of its specification
   * @param title name of the child in lines for the operator
   * @param say takes these lines
   */
  public RestartedChild(String name, String title, Consumer<String> say) {
    this.name = name;
    this.title = title;
    this.say = say;
  }

  /** Starts it, now and whenever it ends, unless it is running. */
  public void start(Start start) {
    synchronized (lock) {
      if (closing || (running != null && !running.isDone())) {
        return;
      }
      running =
          children
              .onStarterThread(() -> next(start))
              .thenCompose(this::started)
              .toCompletableFuture();
      var _ = running.whenComplete((exit, failure) -> ended(start, exit, failure));
    }
  }

  /** Starts the child, unless {@link #close} has begun. */
  private CompletionStage<ChildProcesses.Exit> started(ChildSpec child) {
    synchronized (lock) {
      return closing
          ? CompletableFuture.failedFuture(new CancellationException(title + " is closed"))
          : children.start(child);
    }
  }

  private static ChildSpec next(Start start) {
    try {
      return start.next();
    } catch (IOException refused) {
      throw new UncheckedIOException(refused.getMessage(), refused);
    }
  }

  private void ended(Start start, ChildProcesses.@Nullable Exit exit, @Nullable Throwable failure) {
    synchronized (lock) {
      if (closing) {
        return;
      }
      backoff = backoff.ended(System.nanoTime() / 1_000_000);
      long pause = backoff.pauseMillis();
      say.accept(
          "%s ended%s; it is started again in %d ms"
              .formatted(
                  title,
                  failure == null
                      ? " with code " + Objects.requireNonNull(exit).code()
                      : ": " + Causes.message(Causes.root(failure)),
                  pause));
      var _ =
          CompletableFuture.runAsync(
              () -> start(start), CompletableFuture.delayedExecutor(pause, TimeUnit.MILLISECONDS));
    }
  }

  /**
   * Lets it finish its work, and returns when it has ended; it is not started again.
   *
   * @param limit after which it is killed
   * @return exit code of the child; empty if it was not running, or was killed
   */
  public Optional<Integer> finish(Duration limit) {
    CompletableFuture<ChildProcesses.Exit> last;
    synchronized (lock) {
      closing = true;
      last = running;
    }
    Optional<Integer> code = Optional.empty();
    if (last != null && !last.isDone()) {
      children.drain(name);
      try {
        code = Optional.of(last.get(limit.toMillis(), TimeUnit.MILLISECONDS).code());
      } catch (TimeoutException unfinished) {
        say.accept("%s does not end by itself, and is killed".formatted(title));
      } catch (ExecutionException neverStarted) {
        // The child never ran.
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
      }
    }
    children.close();
    return code;
  }

  /** Ends it at once, unless it has ended. */
  @Override
  public void close() {
    synchronized (lock) {
      closing = true;
    }
    children.close();
  }
}
