package io.troupe.cluster.membership;

import akka.actor.typed.ActorSystem;
import akka.cluster.typed.Cluster;
import io.troupe.base.net.HostPort;

/** Facts of an actor system that others need. */
public final class SystemAddress {
  private SystemAddress() {}

  /** Where it really listens. */
  public static HostPort address(ActorSystem<?> system) {
    var address = Cluster.get(system).selfMember().address();
    return new HostPort(address.getHost().orElseThrow(), address.getPort().orElseThrow());
  }
}
