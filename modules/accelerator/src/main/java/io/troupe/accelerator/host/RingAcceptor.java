package io.troupe.accelerator.host;

import io.troupe.base.failure.Closing;
import io.troupe.engine.parallel.RankLostException;
import io.troupe.net.link.Connection;
import io.troupe.net.link.ConnectionFactory;
import io.troupe.net.link.PeerHandshake;
import io.troupe.net.link.PendingHandshakes;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/**
 * The listener of a rank of a ring, where the rank before connects. A peer that connects proves the
 * run's secret in a thread of its own, and of those who have proven nothing the oldest gives way to
 * one more: so no number of strangers who came first delays the rank.
 *
 * <p>A thread that knows that the ring will not be made closes the listener. The acceptor notices
 * by listening, so it still listens when the one before has come: the rank may still wait for the
 * one after it.
 */
final class RingAcceptor implements AutoCloseable {
  static final Duration HELLO = Duration.ofSeconds(20);
  static final int MAX_CALLERS = 32;

  private final int previousRank;
  private final ConnectionFactory.Listener listener;
  private final PeerHandshake introduction;
  private final Consumer<String> refused;
  private final PendingHandshakes halfOpen = new PendingHandshakes(MAX_CALLERS);
  private final CompletableFuture<Connection> accepted = new CompletableFuture<>();

  /**
   * Completes when the listener accepts no more peers; true if that was before this rank was
   * through.
   */
  private final CompletableFuture<Boolean> closedByPeer = new CompletableFuture<>();

  private boolean taken;

  private RingAcceptor(
      int before,
      ConnectionFactory.Listener listener,
      PeerHandshake introduction,
      Consumer<String> refused) {
    this.previousRank = before;
    this.listener = listener;
    this.introduction = introduction;
    this.refused = refused;
  }

  /**
   * Starts to accept the next rank of the ring from a listener.
   *
   * @param before rank that is let in
   * @param listener closed with this
   * @param refused takes who was refused, and why
   */
  static RingAcceptor open(
      int before,
      ConnectionFactory.Listener listener,
      PeerHandshake introduction,
      Consumer<String> refused) {
    RingAcceptor acceptor = new RingAcceptor(before, listener, introduction, refused);
    Thread.ofVirtual().name("ring-acceptor").start(acceptor::receive);
    return acceptor;
  }

  private void receive() {
    try {
      while (true) {
        Connection caller = listener.accept();
        halfOpen.add(caller);
        Thread.ofVirtual().name("ring-greeting").start(() -> authenticate(caller));
      }
    } catch (IOException closed) {
      accepted.completeExceptionally(closed);
      closedByPeer.complete(true);
    }
  }

  private void authenticate(Connection caller) {
    boolean kept = false;
    try {
      introduction.asServer(caller, HELLO);
      kept = accepted.complete(caller);
    } catch (IOException stranger) {
      refused.accept(
          "somebody else than trainer rank %d connected, and was refused: %s"
              .formatted(previousRank, stranger.getMessage()));
    } finally {
      halfOpen.remove(caller);
      if (!kept) {
        Closing.quietly(caller);
      }
    }
  }

  /** The connection of the rank before. */
  Connection await(long until) throws IOException, RankLostException {
    try {
      Connection previous = accepted.get(until - System.nanoTime(), TimeUnit.NANOSECONDS);
      taken = true;
      return previous;
    } catch (TimeoutException absent) {
      throw new RankLostException(previousRank, "it did not connect", absent);
    } catch (ExecutionException failure) {
      throw new IOException("cannot listen for trainer rank " + previousRank, failure.getCause());
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new IOException("the rank is stopped", stopped);
    }
  }

  /** Whether the listener accepts no more peers. */
  boolean isShut() {
    return closedByPeer.isDone();
  }

  /**
   * Closes the connection to the next rank if the listener is closed before this rank is through.
   */
  void watchForClose(Connection next) {
    var _ =
        closedByPeer.thenAccept(
            early -> {
              if (early) {
                Closing.quietly(next);
              }
            });
  }

  /** Accepts no more peers; the rank is through, or has given up. */
  @Override
  public void close() throws IOException {
    closedByPeer.complete(false);
    listener.close();
    var _ = accepted.completeExceptionally(new IOException("the listener is closed"));
    if (!taken && !accepted.isCompletedExceptionally()) {
      Closing.quietly(accepted.join());
    }
  }
}
