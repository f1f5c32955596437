package io.troupe.cluster.membership;

import akka.actor.typed.ActorSystem;
import akka.cluster.typed.Cluster;
import io.troupe.base.net.HostPort;

/** Reads the address of an actor system. */
public final class SystemAddress {
  private SystemAddress() {}

  /** The address at which the system listens, with its actual port. */
  public static HostPort address(ActorSystem<?> system) {
    var address = Cluster.get(system).selfMember().address();
    return new HostPort(address.getHost().orElseThrow(), address.getPort().orElseThrow());
  }
}
