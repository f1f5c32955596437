package io.troupe.net.link;

import io.troupe.base.net.HostPort;
import java.net.InetSocketAddress;

/**
 * The address at which a process serves weights, or asks for them.
 *
 * @param address of the server; port 0 takes a free one
 * @param endpoint form of connections
 */
public record ListenAddress(HostPort address, ConnectionFactory endpoint) {
  /** The address of a socket. */
  public InetSocketAddress socket() {
    return new InetSocketAddress(address.host(), address.port());
  }

  /** Returns the same kind of connections at another address. */
  public ListenAddress withAddress(HostPort other) {
    return new ListenAddress(other, endpoint);
  }
}
