package io.troupe.cluster.collective;

import io.troupe.cluster.link.Endpoint;
import io.troupe.cluster.link.HalfOpen;
import io.troupe.cluster.link.Introduction;
import io.troupe.cluster.link.Wire;
import io.troupe.engine.parallel.RankLostException;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/**
 * Where a rank of a ring waits for the one before it. Whoever connects proves the run's secret in a
 * thread of its own, and of those who have proven nothing the oldest gives way to one more: so no
 * number of strangers who came first delays the rank.
 *
 * <p>Whoever knows that the ring will not stand closes the listener. The door hears of that by
 * listening, so it goes on to do so when the one before has come: the rank may still wait for the
 * one after it.
 */
final class RingDoor implements AutoCloseable {
  static final Duration HELLO = Duration.ofSeconds(20);
  static final int CALLERS = 32;

  private final int before;
  private final Endpoint.Listener listener;
  private final Introduction introduction;
  private final Consumer<String> refused;
  private final HalfOpen halfOpen = new HalfOpen(CALLERS);
  private final CompletableFuture<Wire> guest = new CompletableFuture<>();

  /** Done when nobody is let in any more; true if that was before this rank was through. */
  private final CompletableFuture<Boolean> shut = new CompletableFuture<>();

  private boolean taken;

  private RingDoor(
      int before, Endpoint.Listener listener, Introduction introduction, Consumer<String> refused) {
    this.before = before;
    this.listener = listener;
    this.introduction = introduction;
    this.refused = refused;
  }

  /**
   * Opens it.
   *
   * @param before rank that is let in
   * @param listener closed with this
   * @param refused told who was sent away, and why
   */
  static RingDoor open(
      int before, Endpoint.Listener listener, Introduction introduction, Consumer<String> refused) {
    RingDoor door = new RingDoor(before, listener, introduction, refused);
    Thread.ofVirtual().name("ring-door").start(door::receive);
    return door;
  }

  private void receive() {
    try {
      while (true) {
        Wire caller = listener.accept();
        halfOpen.begin(caller);
        Thread.ofVirtual().name("ring-greeting").start(() -> greet(caller));
      }
    } catch (IOException closed) {
      guest.completeExceptionally(closed);
      shut.complete(true);
    }
  }

  private void greet(Wire caller) {
    boolean kept = false;
    try {
      introduction.welcome(caller, HELLO);
      kept = guest.complete(caller);
    } catch (IOException stranger) {
      refused.accept(
          "somebody else than trainer rank %d connected, and was refused: %s"
              .formatted(before, stranger.getMessage()));
    } finally {
      halfOpen.over(caller);
      if (!kept) {
        close(caller);
      }
    }
  }

  /** The connection of the rank before. */
  Wire await(long until) throws IOException, RankLostException {
    try {
      Wire previous = guest.get(until - System.nanoTime(), TimeUnit.NANOSECONDS);
      taken = true;
      return previous;
    } catch (TimeoutException absent) {
      throw new RankLostException(before, "it did not connect", absent);
    } catch (ExecutionException failure) {
      throw new IOException("cannot listen for trainer rank " + before, failure.getCause());
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new IOException("the rank is stopped", stopped);
    }
  }

  /** Whether nobody is let in any more. */
  boolean isShut() {
    return shut.isDone();
  }

  /** Has a connection to the one after closed if the door is shut before this rank is through. */
  void shutsOut(Wire next) {
    var _ =
        shut.thenAccept(
            early -> {
              if (early) {
                close(next);
              }
            });
  }

  private static void close(Wire wire) {
    try {
      wire.close();
    } catch (IOException gone) {
      // It is closed.
    }
  }

  /** Lets nobody in any more; the rank is through, or has given up. */
  @Override
  public void close() throws IOException {
    shut.complete(false);
    listener.close();
    var _ = guest.completeExceptionally(new IOException("the door is closed"));
    if (!taken && !guest.isCompletedExceptionally()) {
      close(guest.join());
    }
  }
}
