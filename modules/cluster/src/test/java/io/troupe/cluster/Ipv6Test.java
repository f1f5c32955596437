package io.troupe.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import akka.actor.AddressFromURIString;
import akka.actor.typed.ActorSystem;
import akka.actor.typed.javadsl.Behaviors;
import akka.cluster.typed.Cluster;
import akka.cluster.typed.Join;
import com.typesafe.config.ConfigFactory;
import io.troupe.base.net.HostPort;
import io.troupe.cluster.ClusterSettings.ClusterRole;
import io.troupe.testkit.Await;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Two processes of a cluster that listen on the loopback address of IPv6. */
class Ipv6Test {
  private static ActorSystem<Void> system() {
    return ActorSystem.create(
        Behaviors.<Void>empty(),
        ClusterSettings.SYSTEM_NAME,
        ConfigFactory.parseString("akka.coordinated-shutdown.run-by-actor-system-terminate = off")
            .withFallback(
                new ClusterSettings(
                        new HostPort("::1", 0),
                        Set.of(ClusterRole.NODE),
                        ClusterSettings.MIN_FRAME_BYTES,
                        ConfigFactory.empty(),
                        true)
                    .config()));
  }

  private static HostPort address(ActorSystem<?> system) {
    var address = Cluster.get(system).selfMember().address();
    return new HostPort(address.getHost().orElseThrow(), address.getPort().orElseThrow());
  }

  private static boolean hasIpv6() {
    try (ServerSocket _ = new ServerSocket(0, 1, InetAddress.ofLiteral("::1"))) {
      return true;
    } catch (IOException none) {
      return false;
    }
  }

  @Test
  void join_byTheTextOfAnAddress_isAMemberOfBoth() throws Exception {
    assumeThat(hasIpv6()).isTrue();
    ActorSystem<Void> first = system();
    ActorSystem<Void> second = system();
    try {
      Cluster own = Cluster.get(first);
      own.manager().tell(new Join(own.selfMember().address()));
      HostPort parsed = HostPort.parse(address(first).toString());
      assertThat(parsed.host()).isEqualTo("::1");
      String seed = ClusterSettings.addresses(List.of(parsed)).getFirst();
      assertThat(seed)
          .isEqualTo("akka://" + ClusterSettings.SYSTEM_NAME + "@[::1]:" + parsed.port());
      Cluster other = Cluster.get(second);
      other.manager().tell(new Join(AddressFromURIString.parse(seed)));
      Await.until(
          "both are members",
          () -> own.state().members().size() == 2 && other.state().members().size() == 2);
    } finally {
      second.terminate();
      first.terminate();
      second.getWhenTerminated().toCompletableFuture().get(60, TimeUnit.SECONDS);
      first.getWhenTerminated().toCompletableFuture().get(60, TimeUnit.SECONDS);
    }
  }
}
