package io.troupe.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.base.process.ExitCode;
import io.troupe.run.compose.TestRuns;
import io.troupe.store.audit.JournalAudit;
import java.io.IOException;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * A trainer whose ranks are on two nodes with folders of their own, of which one loses its rank and
 * then its agent. It takes a minute or two, so it runs on demand, like {@link ClusterTest}'s longer
 * ones.
 */
@EnabledIfSystemProperty(named = "troupe.cluster.tests", matches = "true")
final class RanksOnNodesTest {
  private static final String RUN =
      TestRuns.TOY.replace("token_delay: 1ms", "token_delay: 100ms")
          + """
          cluster:
            worker_heap: 96
            drain_timeout: 20s
          placement:
            nodes: 3
            gpus_per_node: 1
            trainer_ranks: 2
            ranks_as: nodes
            coordinator_gpu: false
            rollout_workers: 1
          """;

  /** The ranks are on one node of two. */
  private static final String WITH_SPARE =
      RUN.replace("nodes: 3", "nodes: 2").replace("gpus_per_node: 1", "gpus_per_node: 2");

  @TempDir private Path folder;

  private ChildRun node(String name, String address, String seed) throws IOException {
    return TestCluster.nodeIn(folder.resolve(name), name, address, seed);
  }

  private static boolean hasRank(ChildRun node) {
    return node.children().stream()
        .anyMatch(child -> child.info().commandLine().orElse("").contains("trainer-rank"));
  }

  @Test
  void run_nodeOfTheRanksKilled_aSpareTakesThemUp() throws Exception {
    Path home = folder.resolve("coordinator");
    try (ChildRun coordinator = TestCluster.coordinatorIn(home, WITH_SPARE)) {
      String seed = TestCluster.seed(coordinator);
      try (ChildRun a = node("a", "127.0.0.2", seed);
          ChildRun b = node("b", "127.0.0.3", seed);
          ChildRun c = node("c", "127.0.0.4", seed)) {
        coordinator.awaitErr("nothing, until a node of the placement is gone");
        coordinator.awaitOut(10);

        long killed = System.nanoTime();
        TestCluster.killWithChildren(
            Stream.of(a, b, c).filter(RanksOnNodesTest::hasRank).findAny().orElseThrow());
        coordinator.awaitErr("which was spare, is now node");
        coordinator.awaitOut(coordinator.out().size() + 10);
        TestCluster.tell(
            "a run made ten steps on a spare after its ranks' node was killed", killed);
        coordinator.signal("TERM");
        assertThat(coordinator.awaitExit()).as(coordinator.said()).isEqualTo(ExitCode.ofSignal(15));
      }
    }
    assertThat(JournalAudit.of(TestRuns.only(home)).report().sound()).isTrue();
  }

  @Test
  void run_rankThenAgentOfARankKilled_goesOnAndItsAccountAddsUp() throws Exception {
    Path home = folder.resolve("coordinator");
    try (ChildRun coordinator = TestCluster.coordinatorIn(home, RUN)) {
      String seed = TestCluster.seed(coordinator);
      try (ChildRun a = node("a", "127.0.0.2", seed);
          ChildRun b = node("b", "127.0.0.3", seed);
          ChildRun c = node("c", "127.0.0.4", seed)) {
        coordinator.awaitErr("all trainer ranks begin");
        coordinator.awaitOut(10);

        ChildRun holder =
            Stream.of(a, b, c).filter(RanksOnNodesTest::hasRank).findAny().orElseThrow();
        long killed = System.nanoTime();
        int atKill = coordinator.out().size();
        TestCluster.child(holder, "trainer-rank").destroyForcibly();
        coordinator.awaitErr("the step is abandoned and made again");
        coordinator.awaitOut(atKill + 10);
        TestCluster.tell("a run made ten steps after one of its ranks was killed", killed);

        killed = System.nanoTime();
        TestCluster.killWithChildren(holder);
        coordinator.awaitErr("1 of 2 trainer ranks begin");
        coordinator.awaitOut(coordinator.out().size() + 10);
        TestCluster.tell("a run made ten steps after a node of its ranks was killed", killed);
        coordinator.signal("TERM");
        assertThat(coordinator.awaitExit()).as(coordinator.said()).isEqualTo(ExitCode.ofSignal(15));
      }
    }
    assertThat(JournalAudit.of(TestRuns.only(home)).report().sound()).isTrue();
  }
}
