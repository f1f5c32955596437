package io.troupe.ranks;

import io.troupe.net.link.Connection;
import io.troupe.net.link.ConnectionFactory;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;

/** A connection within this process, with both its ends. */
record ConnectionPair(Connection coordinator, Connection rank) implements AutoCloseable {
  static ConnectionPair open() throws IOException {
    try (ConnectionFactory.Listener listener =
        ConnectionFactory.onLoopback()
            .listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
      Connection rank =
          ConnectionFactory.onLoopback().connect(listener.address(), Duration.ofSeconds(10));
      return new ConnectionPair(listener.accept(), rank);
    }
  }

  @Override
  public void close() throws IOException {
    coordinator.close();
    rank.close();
  }
}
