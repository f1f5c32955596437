package io.troupe.app;

import akka.actor.typed.ActorSystem;
import akka.cluster.typed.Cluster;
import io.troupe.base.net.HostPort;

/** Facts of an actor system that others need. */
final class Systems {
  private Systems() {}

  /** Where it really listens. */
  static HostPort address(ActorSystem<?> system) {
    var address = Cluster.get(system).selfMember().address();
    return new HostPort(address.getHost().orElseThrow(), address.getPort().orElseThrow());
  }
}
