package io.troupe.cluster;

import io.troupe.base.net.HostPort;
import io.troupe.cluster.link.Endpoint;
import java.net.InetSocketAddress;

/**
 * Where a process serves weights, or asks for them.
 *
 * @param address of the server; port 0 takes a free one
 * @param endpoint how connections are made
 */
public record WeightsPlace(HostPort address, Endpoint endpoint) {
  /** The address of a socket. */
  public InetSocketAddress socket() {
    return new InetSocketAddress(address.host(), address.port());
  }

  /** The same connections to another server. */
  public WeightsPlace at(HostPort other) {
    return new WeightsPlace(other, endpoint);
  }
}
