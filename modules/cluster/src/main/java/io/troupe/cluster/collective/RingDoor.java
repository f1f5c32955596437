package io.troupe.cluster.collective;

import io.troupe.cluster.secret.Introduction;
import io.troupe.engine.parallel.RankLostException;
import java.io.IOException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/**
 * Where a rank of a ring waits for the one before it. Whoever connects proves the run's secret in a
 * thread of its own, so that a stranger who came first keeps nobody from the door.
 */
final class RingDoor implements AutoCloseable {
  private static final Duration HELLO = Duration.ofSeconds(5);
  private static final int CALLERS = 32;

  private final int before;
  private final ServerSocketChannel listener;
  private final Introduction introduction;
  private final Consumer<String> refused;
  private final Semaphore room = new Semaphore(CALLERS);
  private final CompletableFuture<SocketChannel> guest = new CompletableFuture<>();
  private boolean taken;

  private RingDoor(
      int before,
      ServerSocketChannel listener,
      Introduction introduction,
      Consumer<String> refused) {
    this.before = before;
    this.listener = listener;
    this.introduction = introduction;
    this.refused = refused;
  }

  /**
   * Opens it.
   *
   * @param before rank that is let in
   * @param listener that blocks; closed with this
   * @param refused told who was sent away, and why
   */
  static RingDoor open(
      int before,
      ServerSocketChannel listener,
      Introduction introduction,
      Consumer<String> refused) {
    RingDoor door = new RingDoor(before, listener, introduction, refused);
    Thread.ofVirtual().name("ring-door").start(door::receive);
    return door;
  }

  private void receive() {
    try {
      while (!guest.isDone()) {
        room.acquire();
        SocketChannel caller = listener.accept();
        Thread.ofVirtual().name("ring-greeting").start(() -> greet(caller));
      }
    } catch (IOException | InterruptedException closed) {
      guest.completeExceptionally(closed);
    }
  }

  private void greet(SocketChannel caller) {
    boolean kept = false;
    try {
      caller.socket().setTcpNoDelay(true);
      introduction.welcome(caller, HELLO);
      kept = guest.complete(caller);
    } catch (IOException stranger) {
      refused.accept(
          "somebody else than trainer rank %d connected, and was refused: %s"
              .formatted(before, stranger.getMessage()));
    } finally {
      room.release();
      if (!kept) {
        close(caller);
      }
    }
  }

  /** The connection of the rank before. */
  SocketChannel await(long until) throws IOException, RankLostException {
    try {
      SocketChannel previous = guest.get(until - System.nanoTime(), TimeUnit.NANOSECONDS);
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

  private static void close(SocketChannel channel) {
    try {
      channel.close();
    } catch (IOException gone) {
      // It is closed.
    }
  }

  /** Lets nobody in any more. */
  @Override
  public void close() throws IOException {
    listener.close();
    var _ = guest.completeExceptionally(new IOException("the door is closed"));
    if (!taken && !guest.isCompletedExceptionally()) {
      close(guest.join());
    }
  }
}
