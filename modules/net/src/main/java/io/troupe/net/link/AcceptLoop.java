package io.troupe.net.link;

import io.troupe.base.failure.Closing;
import java.io.Closeable;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * The thread of a server that accepts connections until the server is closed.
 *
 * <p>A failure ends neither the thread nor the server: a process without a free file descriptor, or
 * without memory for one more thread, accepts connections again once it has some. A failed accept
 * is tried again after a pause, because the same failure comes back at once.
 */
public final class AcceptLoop implements Closeable {
  private static final Duration PAUSE = Duration.ofMillis(100);

  private final ConnectionFactory.Listener listener;
  private final Consumer<Connection> handler;
  private final Consumer<Throwable> failures;
  private final Runnable pause;
  private volatile boolean closed;

  AcceptLoop(
      ConnectionFactory.Listener listener,
      Consumer<Connection> handler,
      Consumer<Throwable> failures,
      Runnable pause) {
    this.listener = listener;
    this.handler = handler;
    this.failures = failures;
    this.pause = pause;
  }

  /**
   * Starts the thread.
   *
   * @param name of the thread
   * @param listener that accepts the connections; closed with the loop
   * @param handler takes each connection and must not block; if it fails, the connection is closed
   * @param failures takes each failure of the listener and of the handler
   */
  public static AcceptLoop start(
      String name,
      ConnectionFactory.Listener listener,
      Consumer<Connection> handler,
      Consumer<Throwable> failures) {
    AcceptLoop loop =
        new AcceptLoop(listener, handler, failures, () -> LockSupport.parkNanos(PAUSE.toNanos()));
    Thread.ofPlatform().daemon().name(name).start(loop::run);
    return loop;
  }

  void run() {
    while (!closed) {
      try {
        hand(listener.accept());
      } catch (IOException failure) {
        failed(failure);
      }
    }
  }

  private void hand(Connection connection) {
    try {
      handler.accept(connection);
    } catch (Throwable failure) { // Also an error: the server would accept nothing any more.
      Closing.quietly(connection);
      failed(failure);
    }
  }

  private void failed(Throwable failure) {
    if (!closed) {
      failures.accept(failure);
      pause.run();
    }
  }

  /** Closes the listener, and ends the thread. */
  @Override
  public void close() throws IOException {
    closed = true;
    listener.close();
  }
}
