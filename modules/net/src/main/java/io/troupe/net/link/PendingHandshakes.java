package io.troupe.net.link;

import io.troupe.base.failure.Closing;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;

/**
 * Connections to a listener whose other side has proven nothing yet, up to a limit. One more closes
 * the oldest, so that strangers who connect and send nothing keep no peer out: a peer that knows
 * the secret proves it within milliseconds.
 */
public final class PendingHandshakes {
  private final int most;
  private final Deque<Connection> waiting = new ArrayDeque<>();

  public PendingHandshakes(int most) {
    this.most = most;
  }

  /** Counts a connection until {@link #remove}. */
  public void add(Connection wire) {
    Optional<Connection> oldest;
    synchronized (waiting) {
      oldest = waiting.size() < most ? Optional.empty() : Optional.ofNullable(waiting.pollFirst());
      waiting.addLast(wire);
    }
    // A TLS connection may take a second to close.
    oldest.ifPresent(one -> Thread.ofVirtual().start(() -> Closing.quietly(one)));
  }

  /** The other side has proven itself, or is gone. */
  public void remove(Connection wire) {
    synchronized (waiting) {
      waiting.remove(wire);
    }
  }
}
