package io.troupe.testkit;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;

/**
 * Waits in tests for what other threads and processes bring about: the one place with a limit,
 * which no slow machine meets. A test that needs longer waits for something that does not happen.
 */
public final class Await {
  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final Duration PAUSE = Duration.ofMillis(1);

  /** A condition that can be tested again and again. */
  @FunctionalInterface
  public interface Condition {
    /** Whether the condition holds now. */
    boolean holds() throws Exception;
  }

  /** A search for a value that may not be there yet. */
  @FunctionalInterface
  public interface Search<T> {
    /** The thing, once it is there. */
    Optional<T> look() throws Exception;
  }

  private Await() {}

  /**
   * Waits until a condition holds.
   *
   * @param what names the condition in the error
   * @throws AssertionError if the condition does not hold in time, or throws
   */
  public static void until(String what, Condition condition) {
    Object _ = found(what, () -> condition.holds() ? Optional.of(what) : Optional.empty());
  }

  /**
   * Waits until a condition holds whose line says what it is.
   *
   * @throws AssertionError as {@link #until(String, Condition)}
   */
  public static void until(Condition condition) {
    until("the condition of this line", condition);
  }

  /**
   * Waits until a search finds something.
   *
   * @param what names the thing in the error
   * @throws AssertionError if nothing is found in time, or the search throws
   */
  public static <T> T found(String what, Search<T> search) {
    long start = System.nanoTime();
    try {
      Optional<T> found = search.look();
      while (found.isEmpty()) {
        if (System.nanoTime() - start > LIMIT.toNanos()) {
          throw new AssertionError("not within %s: %s".formatted(LIMIT, what));
        }
        LockSupport.parkNanos(PAUSE.toNanos());
        if (Thread.interrupted()) {
          throw new InterruptedException();
        }
        found = search.look();
      }
      return found.get();
    } catch (Exception failure) {
      throw new AssertionError("cannot wait for: " + what, failure);
    }
  }

  /**
   * The value of a stage, once it has one.
   *
   * @throws ExecutionException if the stage fails
   */
  public static <T> T value(CompletionStage<T> stage) throws ExecutionException {
    try {
      return stage.toCompletableFuture().get(LIMIT.toSeconds(), TimeUnit.SECONDS);
    } catch (InterruptedException | TimeoutException failure) {
      throw new AssertionError("a stage did not complete", failure);
    }
  }

  /** Waits for a latch. */
  public static void latch(CountDownLatch latch) {
    try {
      if (!latch.await(LIMIT.toSeconds(), TimeUnit.SECONDS)) {
        throw new AssertionError("a latch was not counted down within " + LIMIT);
      }
    } catch (InterruptedException failure) {
      throw new AssertionError("interrupted while waiting for a latch", failure);
    }
  }
}
