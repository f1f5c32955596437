package io.troupe.cluster.ranks;

import io.troupe.cluster.link.Endpoint;
import io.troupe.cluster.link.Wire;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;

/** A connection within this process, with both its ends. */
record LinePair(Wire head, Wire rank) implements AutoCloseable {
  static LinePair open() throws IOException {
    try (Endpoint.Listener listener =
        Endpoint.onLoopback().listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
      Wire rank = Endpoint.onLoopback().connect(listener.address(), Duration.ofSeconds(10));
      return new LinePair(listener.accept(), rank);
    }
  }

  @Override
  public void close() throws IOException {
    head.close();
    rank.close();
  }
}
