package io.troupe.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import akka.actor.typed.ActorSystem;
import akka.actor.typed.javadsl.Behaviors;
import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import io.troupe.base.net.HostPort;
import io.troupe.cluster.ClusterSettings.ClusterRole;
import io.troupe.cluster.membership.ClusterIdentity;
import io.troupe.cluster.membership.SeedNodes;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ClusterJoinTest {
  private static final Duration LONG = Duration.ofMinutes(10);

  @Test
  void through_systemEndsWhileASeedOwesItsAnswer_ends() throws Exception {
    try (ServerSocket silent = new ServerSocket(0, 8, InetAddress.getLoopbackAddress())) {
      ActorSystem<Void> system =
          ActorSystem.create(
              Behaviors.<Void>empty(),
              ClusterSettings.SYSTEM_NAME,
              ConfigFactory.parseString("troupe.transport-cutoff-patience = 100ms")
                  .withFallback(usual()));
      HostPort seed = new HostPort("127.0.0.1", silent.getLocalPort());
      CompletableFuture<Throwable> ended = new CompletableFuture<>();
      Thread.ofPlatform()
          .daemon()
          .start(() -> ended.complete(failureOfJoining(system, SeedNodes.given(List.of(seed)))));
      try (Socket _ = silent.accept()) { // it has asked to join
        system.terminate();
        system.getWhenTerminated().toCompletableFuture().get(60, TimeUnit.SECONDS);

        assertThat(ended.get(60, TimeUnit.SECONDS))
            .isInstanceOf(ClusterJoin.ClusterJoinException.class)
            .hasMessageContaining("asked to end");
      }
    }
  }

  private static Config usual() {
    return new ClusterSettings(
            new HostPort("127.0.0.1", 0),
            Set.of(ClusterRole.NODE),
            ClusterSettings.MIN_FRAME_BYTES,
            ConfigFactory.empty(),
            true)
        .config();
  }

  private static Throwable failureOfJoining(ActorSystem<?> system, SeedNodes seeds) {
    try {
      ClusterJoin.joinVia(system, seeds, new ClusterIdentity("c", "b"), "a node", LONG);
      return new AssertionError("it joined");
    } catch (Exception failure) {
      return failure;
    }
  }
}
