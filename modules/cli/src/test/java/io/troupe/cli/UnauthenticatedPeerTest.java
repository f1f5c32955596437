package io.troupe.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import akka.actor.ActorRef;
import akka.actor.ActorSelection;
import akka.actor.PoisonPill;
import akka.actor.typed.ActorSystem;
import akka.actor.typed.javadsl.Adapter;
import akka.actor.typed.javadsl.Behaviors;
import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import io.troupe.base.build.BuildId;
import io.troupe.base.net.HostPort;
import io.troupe.base.process.Announcements;
import io.troupe.cluster.ClusterJoin;
import io.troupe.cluster.ClusterSettings;
import io.troupe.cluster.membership.ClusterIdentity;
import io.troupe.cluster.membership.SeedNodes;
import io.troupe.cluster.tls.TlsTransport;
import io.troupe.net.link.Connection;
import io.troupe.net.link.ConnectionFactory;
import io.troupe.net.link.PeerHandshake;
import io.troupe.net.secret.RunSecret;
import io.troupe.net.tls.UserKeys;
import io.troupe.run.compose.TestRuns;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The access of a process without keys of this user to the processes of a run. */
final class UnauthenticatedPeerTest {
  private static final Duration PATIENCE = Duration.ofSeconds(4);

  @TempDir private Path folder;

  @Test
  void train_inOneProcess_listensOnItsConsoleAlone() throws Exception {
    try (ChildRun run =
        ChildRun.train(
            folder,
            ChildRun.Size.TOY,
            TestRuns.write(folder, TestRuns.TOY),
            "training.steps=100000",
            "console.port=0")) {
      int console = URI.create(run.awaitConsole()).getPort();
      run.awaitOut(1);
      assertThat(OpenPorts.of(run.pid())).containsExactly(console);
    }
  }

  @Test
  void cluster_onLoopback_takesNobodyInWhoHasNotItsKeys() throws Exception {
    TestCluster cluster = new TestCluster(folder, TestCluster.RUN);
    try (ChildRun coordinator = cluster.coordinator(ChildRun.Place.HERE)) {
      String seed = TestCluster.seed(coordinator);
      try (ChildRun node = cluster.node(ChildRun.Place.HERE, seed, "a", "node")) {
        String said = node.awaitErr(Announcements.AGENT_READY);
        HostPort agent = HostPort.parse(said.substring(said.lastIndexOf(' ') + 1));
        coordinator.awaitOut(1);
        Config foreign = TlsTransport.ofUser(UserKeys.in(folder.resolve("stranger")));
        List<HostPort> ports = List.of(HostPort.parse(seed), agent);
        try (Stranger plain = new Stranger(ConfigFactory.empty());
            Stranger keyed = new Stranger(foreign)) {
          var asked =
              Stream.of(plain, keyed).flatMap(one -> one.askAndPoison(ports).stream()).toList();
          plain.assertNotLetIn(ports);
          keyed.assertNotLetIn(ports);
          assertThat(asked).hasSize(8).allMatch(CompletableFuture::isCompletedExceptionally);
        }
        assertServesNobody(coordinator);
        assertServesNobody(node);
        coordinator.awaitOut(coordinator.out().size() + 5);
        assertThat(coordinator.err()).noneMatch(line -> line.contains("evil"));
      }
    }
    assertKeysAreClosedToOthers();
  }

  /** Asserts that a peer without the run's secret is sent away, or is not understood. */
  private static void assertServesNobody(ChildRun process) throws Exception {
    PeerHandshake guess = new PeerHandshake(RunSecret.random(), "guess");
    for (int port : OpenPorts.of(process.pid())) {
      try (Connection wire =
          ConnectionFactory.onLoopback()
              .connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), PATIENCE)) {
        assertThatThrownBy(() -> guess.asClient(wire, PATIENCE)).as("port %d", port).isNotNull();
      }
    }
  }

  /** The keys are as private as their folder, also to a user of another name. */
  private static void assertKeysAreClosedToOthers() throws Exception {
    Path keys = ChildRun.STATE.resolve("troupe");
    assertThat(Files.getPosixFilePermissions(keys)).hasSize(3);
    if (((Number) Files.getAttribute(keys, "unix:uid")).intValue() == 0) {
      Process nobody =
          new ProcessBuilder(
                  "setpriv",
                  "--reuid=65534",
                  "--regid=65534",
                  "--clear-groups",
                  "ls",
                  keys.toString())
              .redirectErrorStream(true)
              .start();
      assertThat(nobody.waitFor()).isNotZero();
    }
  }

  /** A program with this build on its class path, which knows ports and nothing else. */
  private static final class Stranger implements AutoCloseable {
    private final ActorSystem<Void> system;

    Stranger(Config transport) {
      ClusterSettings settings =
          new ClusterSettings(
              new HostPort("127.0.0.1", 0),
              Set.of(ClusterSettings.ClusterRole.NODE),
              ClusterSettings.MIN_FRAME_BYTES,
              transport,
              true);
      this.system =
          ActorSystem.create(
              Behaviors.empty(),
              ClusterSettings.SYSTEM_NAME,
              ConfigFactory.parseString(
                      "akka.loglevel = OFF, troupe.transport-cutoff-patience = 100ms")
                  .withFallback(settings.config()));
    }

    /** Looks for actors of processes, and asks them to stop. */
    List<CompletableFuture<ActorRef>> askAndPoison(List<HostPort> ports) {
      List<CompletableFuture<ActorRef>> asked = new ArrayList<>();
      for (HostPort at : ports) {
        for (String path : List.of("/user", "/user/coordination")) {
          ActorSelection found =
              Adapter.toClassic(system)
                  .actorSelection(
                      "akka://%s@%s%s".formatted(ClusterSettings.SYSTEM_NAME, at, path));
          asked.add(found.resolveOne(PATIENCE.dividedBy(2)).toCompletableFuture());
          found.tell(PoisonPill.getInstance(), ActorRef.noSender());
        }
      }
      return asked;
    }

    void assertNotLetIn(List<HostPort> ports) {
      ClusterIdentity pass = new ClusterIdentity("troupe", BuildId.ofThisProcess());
      assertThatThrownBy(
              () -> ClusterJoin.joinVia(system, SeedNodes.given(ports), pass, "evil", PATIENCE))
          .isInstanceOf(ClusterJoin.ClusterJoinException.class)
          .hasMessageContaining("no seed answered");
    }

    @Override
    public void close() {
      system.terminate();
      system.getWhenTerminated().toCompletableFuture().orTimeout(120, TimeUnit.SECONDS).join();
    }
  }
}
