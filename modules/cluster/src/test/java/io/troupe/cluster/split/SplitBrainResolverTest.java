package io.troupe.cluster.split;

import static org.assertj.core.api.Assertions.assertThat;

import akka.actor.typed.ActorSystem;
import akka.actor.typed.javadsl.Behaviors;
import akka.cluster.Member;
import akka.cluster.MemberStatus;
import akka.cluster.typed.Cluster;
import akka.cluster.typed.Join;
import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import io.troupe.base.net.HostPort;
import io.troupe.cluster.ClusterSettings;
import io.troupe.cluster.ClusterSettings.ClusterRole;
import io.troupe.store.folder.RunFolder;
import io.troupe.store.folder.RunLease;
import io.troupe.testkit.Await;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A coordinator that has the run's lease, and a node of it that dies. */
final class SplitBrainResolverTest {
  private static final Config QUICK =
      ConfigFactory.parseString(
          """
          akka.cluster.failure-detector.acceptable-heartbeat-pause = 1s
          akka.coordinated-shutdown.run-by-actor-system-terminate = off
          troupe {split.stable-after = 200ms, transport-cutoff-patience = 100ms}
          """);

  @TempDir private Path folder;
  private Path holder;
  private RunLease lease;

  @BeforeEach
  void take() throws Exception {
    RunFolder run =
        RunFolder.create(
            folder,
            "run",
            LocalDateTime.of(2026, 1, 2, 3, 4),
            new RunFolder.Contents(
                "a: 1\n".getBytes(StandardCharsets.UTF_8), "a: 1\n", Map.of(), ""));
    lease = new RunLease(run, "coordinator");
    assertThat(lease.take()).isTrue();
    holder = run.path().resolve("cluster/lease-holder");
  }

  private static ActorSystem<Void> start(ClusterRole role, RunLease lease) {
    ClusterSettings settings =
        new ClusterSettings(
            new HostPort("127.0.0.1", 0),
            Set.of(role),
            ClusterSettings.MIN_FRAME_BYTES,
            ConfigFactory.empty(),
            true);
    return ActorSystem.create(
        Behaviors.empty(), ClusterSettings.SYSTEM_NAME, settings.setup(lease, QUICK::withFallback));
  }

  /** The coordinator of a cluster whose other member has just died. */
  private interface Check {
    void of(Cluster coordinator, Member dead) throws Exception;
  }

  private void loseNode(Check check) throws Exception {
    ActorSystem<Void> system = start(ClusterRole.COORDINATOR, lease);
    ActorSystem<Void> other = start(ClusterRole.NODE, lease);
    try {
      Cluster coordinator = Cluster.get(system);
      Cluster node = Cluster.get(other);
      coordinator.manager().tell(Join.create(coordinator.selfMember().address()));
      node.manager().tell(Join.create(coordinator.selfMember().address()));
      Await.until("both members are up", () -> up(coordinator) == 2 && up(node) == 2);
      Member dead = node.selfMember();
      other.terminate();
      Await.value(other.getWhenTerminated());
      check.of(coordinator, dead);
    } finally {
      other.terminate();
      system.terminate();
      Await.value(system.getWhenTerminated());
      lease.close();
    }
  }

  private static long up(Cluster cluster) {
    long up = 0;
    for (Member member : cluster.state().getMembers()) {
      up += member.status().equals(MemberStatus.up()) ? 1 : 0;
    }
    return up;
  }

  @Test
  void nodeDies_leaseIsStillOurs_isRemoved() throws Exception {
    loseNode(
        (coordinator, dead) -> {
          Await.until("the node is removed", () -> up(coordinator) == 1);
          assertThat(coordinator.isTerminated()).isFalse();
          assertThat(lease.held()).isTrue();
        });
  }

  /** The members on the other side may go on with the process that has the lease now. */
  @Test
  void nodeDies_fileServerGaveTheLeaseToAnother_leavesAndRemovesNobody() throws Exception {
    Files.writeString(holder, "process 7 at another host\n");
    assertThat(lease.held()).isTrue();
    loseNode(
        (coordinator, dead) -> {
          Await.until("the coordinator has left", coordinator::isTerminated);
          assertThat(lease.held()).isFalse();
          assertThat(coordinator.state().getMembers())
              .filteredOn(member -> member.address().equals(dead.address()))
              .allMatch(member -> member.status().equals(MemberStatus.up()));
        });
  }

  /** A file server that does not answer says nothing about the lease. */
  @Test
  void nodeDies_leaseCannotBeReadForAWhile_isRemovedOnceItCan() throws Exception {
    Path aside = holder.resolveSibling("aside");
    Files.move(holder, aside);
    loseNode(
        (coordinator, dead) -> {
          Await.until(
              "the node counts as lost", () -> !coordinator.state().getUnreachable().isEmpty());
          assertThat(up(coordinator)).isEqualTo(2);
          Files.move(aside, holder);
          Await.until("the node is removed", () -> up(coordinator) == 1);
          assertThat(coordinator.isTerminated()).isFalse();
        });
  }
}
