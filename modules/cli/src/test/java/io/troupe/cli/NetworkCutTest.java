package io.troupe.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.troupe.base.net.HostNamespaces;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** The network between real JVMs is cut and healed; they see one disk all the time. */
@EnabledIfSystemProperty(named = "troupe.cluster.tests", matches = "true")
final class NetworkCutTest {
  private static final List<String> IMPATIENT = List.of("-Dtroupe.split.lease-patience=8s");
  private static final String LOST = "lost the cluster, ended its workers, joins again";

  @TempDir private Path folder;

  @Test
  void cut_coordinatorAloneThenANodeAlone_oneCoordinatorAllTheTimeAndAllComeBack()
      throws Exception {
    assumeTrue(HostNamespaces.possible(), "no user and network namespaces here");
    TestCluster cluster = new TestCluster(folder, TestCluster.RUN);
    try (HostNamespaces network = HostNamespaces.of(3);
        ChildRun coordinator = cluster.coordinator(place(network, 1), host(1));
        ChildRun a =
            cluster.node(
                place(network, 2),
                TestCluster.seed(coordinator),
                "a",
                "node,coordinator",
                host(2));
        ChildRun b =
            cluster.node(place(network, 3), TestCluster.seed(coordinator), "b", "node", host(3))) {
      cluster.awaitWork(a, 0, "a-w1");
      cluster.awaitWork(b, 0, "b-w1");
      cluster.awaitStandby(a, "a");

      // The majority is without the coordinator, and may not have another one.
      long since = System.nanoTime();
      network.cut(1);
      awaitLost(cluster, a);
      TestCluster.tell("a majority without a coordinator stopped", since);
      awaitLost(cluster, b);
      assertThat(cluster.log("a", "a-standby"))
          .contains(
              "the run's lease is held by process %d at 10.77.0.1".formatted(coordinator.pid()));
      assertThat(cluster.log("a", "a-standby")).doesNotContain("resumed");
      int atHeal = cluster.events().size();
      since = System.nanoTime();
      network.heal(1);
      cluster.awaitWork(a, atHeal, "a-w1");
      cluster.awaitWork(b, atHeal, "b-w1");
      TestCluster.tell("all were back at work after the network healed", since);

      // A node alone: the run continues without it.
      int atCut = cluster.events().size();
      long lostBefore = lost(b);
      since = System.nanoTime();
      network.cut(3);
      cluster.awaitStep(a, atCut + 20);
      TestCluster.await(b, "b stops", () -> lost(b) > lostBefore);
      TestCluster.tell("a minority stopped", since);
      atHeal = cluster.events().size();
      network.heal(3);
      cluster.awaitWork(b, atHeal, "b-w1");

      assertThat(Files.readString(cluster.run().path().resolve("cluster/lease-holder")))
          .startsWith("process %d ".formatted(coordinator.pid()));
      cluster.end(a, () -> terminate(coordinator), atHeal, false);
    }
  }

  /**
   * Returns the number of times that a node has lost the cluster; on a busy machine that may be
   * once more than it was cut off.
   */
  private static long lost(ChildRun node) {
    return node.err().stream().filter(line -> line.contains(LOST)).count();
  }

  /** The standby's words tell why a side does not stop. */
  private static void awaitLost(TestCluster cluster, ChildRun node) throws Exception {
    for (int i = 0; i < 180 && node.err().stream().noneMatch(line -> line.contains(LOST)); i++) {
      assertThat(node.survives(1_000)).as(node.said()).isTrue();
    }
    assertThat(node.err())
        .as("standby: %s", cluster.log("a", "a-standby"))
        .anyMatch(line -> line.contains(LOST));
  }

  private static void terminate(ChildRun process) {
    assertThat(ProcessHandle.of(process.pid()).orElseThrow().destroy()).isTrue();
  }

  private static ChildRun.Place place(HostNamespaces network, int host) {
    return new ChildRun.Place(network.on(host), IMPATIENT);
  }

  private static String[] host(int number) {
    return new String[] {"--address", HostNamespaces.address(number), "--allow-plain-tcp"};
  }
}
