package io.troupe.base.process;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Closes the parts of a process, the newest first and each within a limit. It reports a part that
 * takes long again and again, and leaves one behind that has not closed by the limit, so that a
 * part that hangs costs neither the parts before it nor the end of the process.
 */
public final class BoundedCloser implements AutoCloseable {
  private final Duration notice;
  private final Duration limit;
  private final Consumer<String> say;
  private final Deque<Part> parts = new ArrayDeque<>();
  private boolean incomplete;

  private record Part(Supplier<String> name, String loss, AutoCloseable closeable) {}

  /**
   * A closer without parts.
   *
   * @param notice time between two reports of a part that takes long
   * @param limit time that each part has
   * @param say takes a sentence for the user
   */
  public BoundedCloser(Duration notice, Duration limit, Consumer<String> say) {
    this.notice = notice;
    this.limit = limit;
    this.say = say;
  }

  /**
   * Adds a part, which is closed before those that are there already.
   *
   * @param name a noun, asked for when the part is reported
   * @param loss a clause: what is lost when the part is left behind
   * @return the part
   */
  public <T extends AutoCloseable> T add(Supplier<String> name, String loss, T part) {
    parts.push(new Part(name, loss, part));
    return part;
  }

  /** Whether a part was left behind; then only a halt ends the process without waiting for it. */
  public boolean incomplete() {
    return incomplete;
  }

  /**
   * Closes all parts, also in a thread that is interrupted. The first failure is thrown after the
   * last part is closed, with the others suppressed in it.
   */
  @Override
  public void close() throws IOException {
    if (parts.isEmpty()) {
      return;
    }
    try {
      close(parts.pop());
    } catch (IOException | RuntimeException first) {
      try {
        close();
      } catch (IOException | RuntimeException later) {
        first.addSuppressed(later);
      }
      throw first;
    }
    close();
  }

  private void close(Part part) throws IOException {
    FutureTask<Boolean> closed =
        new FutureTask<>(
            () -> {
              part.closeable().close();
              return true;
            });
    Thread.ofPlatform().name("closer").daemon().start(closed);
    Instant since = Instant.now().truncatedTo(ChronoUnit.SECONDS);
    long begun = System.nanoTime();
    boolean open = true;
    boolean interrupted = false;
    while (open) {
      try {
        closed.get(notice.toNanos(), TimeUnit.NANOSECONDS);
        open = false;
      } catch (InterruptedException e) {
        interrupted = true;
      } catch (TimeoutException slow) {
        Duration left = limit.minusNanos(System.nanoTime() - begun);
        String name = part.name().get();
        if (left.isPositive()) {
          say.accept(
              "%s has not closed since %s; the process waits %d s more for it"
                  .formatted(name, since, left.toSeconds()));
        } else {
          say.accept(
              "%s has not closed since %s and is left behind: %s"
                  .formatted(name, since, part.loss()));
          incomplete = true;
          open = false;
        }
      } catch (ExecutionException failed) {
        throw failure(part, Objects.requireNonNull(failed.getCause()));
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private static RuntimeException failure(Part part, Throwable cause) throws IOException {
    switch (cause) {
      case IOException known -> throw known;
      case RuntimeException known -> throw known;
      case Error known -> throw known;
      default -> throw new IllegalStateException(part.name().get() + " does not close", cause);
    }
  }
}
