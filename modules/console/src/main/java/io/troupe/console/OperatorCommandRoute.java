package io.troupe.console;

import io.troupe.console.http.ApiException;
import io.troupe.console.source.RunSource;
import io.troupe.core.run.Attribution;
import io.troupe.core.run.OperatorCommand;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * Takes orders to the run. An order may end the run, and the console with it, before its answer is
 * out; so the console's end waits for the answers that are under way.
 */
final class OperatorCommandRoute implements AutoCloseable {
  private static final long ORDER_SECONDS = 10;
  private static final long LAST_ANSWERS_SECONDS = 2;

  /** Sends the answer to an order that was taken. */
  interface Answer {
    void send() throws IOException;
  }

  private final RunSource source;
  private final ReadWriteLock answering =
      new ReentrantReadWriteLock(); // answering takes the read lock
  private volatile boolean closed;

  OperatorCommandRoute(RunSource source) {
    this.source = source;
  }

  /**
   * Carries an order to the run.
   *
   * @param taken sends the answer
   * @throws ApiException if the run does not take it
   */
  void take(OperatorCommand verb, Attribution order, Answer taken)
      throws ApiException, IOException, InterruptedException {
    if (!source.live()) {
      throw new ApiException(
          409, "this is the folder of a run, not the run: ask the console of its own process");
    }
    answering.readLock().lock();
    try {
      if (closed) {
        throw new ApiException(503, "the run does not take orders now: its console is closing");
      }
      Optional<String> refused =
          source.order(verb, order).toCompletableFuture().get(ORDER_SECONDS, TimeUnit.SECONDS);
      if (refused.isPresent()) {
        throw new ApiException(409, refused.get());
      }
      taken.send();
    } catch (TimeoutException late) {
      throw new ApiException(
          504, "the coordinator has not answered within %d s".formatted(ORDER_SECONDS));
    } catch (ExecutionException failed) {
      String reason =
          failed.getCause() instanceof TimeoutException
              ? "its coordinator does not answer, or has ended"
              : String.valueOf(failed.getCause());
      throw new ApiException(503, "the run does not take orders now: " + reason);
    } finally {
      answering.readLock().unlock();
    }
  }

  /** Takes no more; returns when those that were taken are answered, or after two seconds. */
  @Override
  public void close() {
    closed = true;
    try {
      if (answering.writeLock().tryLock(LAST_ANSWERS_SECONDS, TimeUnit.SECONDS)) {
        answering.writeLock().unlock();
      }
    } catch (InterruptedException hurried) {
      Thread.currentThread().interrupt();
    }
  }
}
