package io.troupe.net.link;

import io.troupe.base.failure.Closing;
import java.io.Closeable;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Closes connections when something over them takes too long. Blocking calls know no limit of their
 * own; to close a connection from outside ends whatever call it is in.
 */
public final class ConnectionDeadline {
  private final CompletableFuture<Boolean> inTime = new CompletableFuture<>();

  private ConnectionDeadline() {}

  /** Begins to count. */
  public static ConnectionDeadline of(Duration within, Closeable... connections) {
    ConnectionDeadline limit = new ConnectionDeadline();
    List<Closeable> all = List.of(connections);
    var _ =
        limit
            .inTime
            .completeOnTimeout(false, Math.max(1, within.toMillis()), TimeUnit.MILLISECONDS)
            .thenAccept(
                kept -> {
                  if (!kept) {
                    // A TLS connection may take a second to close; the clock has more to do.
                    all.forEach(one -> Thread.ofVirtual().start(() -> Closing.quietly(one)));
                  }
                });
    return limit;
  }

  /**
   * Ends the count.
   *
   * @return whether it was in time, and the connections are open
   */
  public boolean cancel() {
    return inTime.complete(true) || inTime.join();
  }
}
