package io.troupe.testkit;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Looks in tests at what another thread changes at the same time. */
public final class Meanwhile {
  /** A look, with what must hold at any moment of the changes. */
  @FunctionalInterface
  public interface Look {
    /** Looks once. */
    void look() throws Exception;
  }

  private Meanwhile() {}

  /**
   * Makes changes on another thread, and looks again and again until they are made, at least once.
   *
   * @throws Exception of a look or of the changes
   */
  public static void look(Callable<?> changes, Look look) throws Exception {
    try (ExecutorService other = Executors.newSingleThreadExecutor()) {
      Future<?> made = other.submit(changes);
      do {
        look.look();
      } while (!made.isDone());
      made.get();
    }
  }
}
