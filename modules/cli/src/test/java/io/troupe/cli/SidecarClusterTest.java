package io.troupe.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.cli.ChildRun.Place;
import io.troupe.run.compose.TestRuns;
import io.troupe.store.audit.JournalAudit;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** A run over real JVMs whose rollouts are all sampled by servers under node agents; on demand. */
@EnabledIfSystemProperty(named = "troupe.cluster.tests", matches = "true")
final class SidecarClusterTest {
  private static final String RUN =
      SidecarRunTest.RUN
              .replace("token_delay: 1ms", "token_delay: 5ms")
              .replace("completions_per_prompt: 64", "completions_per_prompt: 8")
              .replace("groups_per_step: 4", "groups_per_step: 8")
              .replace("count: 2", "count: 1")
              .replace("heap: 128", "heap: 96")
              .replace("  steps: 200\n", "")
              .replace("learning_rate: 0.2", "learning_rate: 0.05")
              .replace("target: 0.6", "target: 0.8")
          + """
          cluster:
            worker_heap: 96
            drain_timeout: 20s
          """;

  @TempDir private Path folder;

  @Test
  void train_sidecarAndNodeKilledInTheMiddle_reachesTheTargetOverHttpAlone() throws Exception {
    TestCluster cluster = new TestCluster(folder, RUN);
    try (ChildRun coordinator = cluster.coordinator(Place.HERE);
        ChildRun a = cluster.node(Place.HERE, TestCluster.seed(coordinator), "a", "node");
        ChildRun b = cluster.node(Place.HERE, TestCluster.seed(coordinator), "b", "node")) {
      cluster.awaitWork(a, 0, "a-w1");
      cluster.awaitWork(b, 0, "b-w1");
      cluster.awaitStep(coordinator, 0);

      long killed = System.nanoTime();
      List<ProcessHandle> first = a.servers();
      assertThat(first).isNotEmpty();
      first.getFirst().destroyForcibly();
      TestCluster.await(
          a,
          "another server has the place of the killed one",
          () -> a.servers().stream().anyMatch(one -> !first.contains(one)));
      TestCluster.tell("a killed server was started again", killed);

      List<ProcessHandle> orphans = b.servers();
      assertThat(orphans).isNotEmpty();
      killed = System.nanoTime();
      b.kill();
      orphans.forEach(orphan -> orphan.onExit().join());
      TestCluster.tell("a killed agent's server had ended with all that came of it", killed);
      int atKill = cluster.events().size();
      cluster.awaitStep(coordinator, atKill);

      TestCluster.await(a, "the run is over", () -> a.err().toString().contains("is over"));
      assertThat(coordinator.awaitExit()).as(coordinator.said()).isZero();
      assertThat(coordinator.err().toString()).contains("done   step", "0 failed");
      TestCluster.await(
          a,
          "the worker has told its account",
          () -> cluster.log("a", "a-w1").contains("refused="));
      assertThat(cluster.log("a", "a-w1"))
          .contains("refused=none")
          .doesNotContain("completions=0 ");
      JournalAudit.Result audit = JournalAudit.of(cluster.run());
      assertThat(audit.report().sound()).as(audit.report().violations().toString()).isTrue();
    }
  }

  /** The coordinator drives it, so that it has one owner; the next coordinator continues it. */
  @Test
  void train_serverOfOthersAndCoordinatorKilled_nextCoordinatorDrivesTheServer() throws Exception {
    TestCluster cluster = new TestCluster(folder, TestCluster.RUN);
    String config = TestRuns.write(folder, TestCluster.RUN);
    try (ChildRun server =
        ChildRun.start(folder, ChildRun.Size.TOY, "serve", "--config", config, "--port", "0")) {
      server.awaitOut(1);
      String url = server.out().getFirst().replaceAll(".*(http://[0-9.:]+).*", "$1");
      try (ChildRun coordinator =
              cluster.coordinator(
                  Place.HERE, "--set", "rollout.endpoints.urls=[%s]".formatted(url));
          ChildRun a =
              cluster.node(Place.HERE, TestCluster.seed(coordinator), "a", "node,coordinator")) {
        cluster.awaitWork(a, 0, "a-w1");
        cluster.awaitWork(coordinator, 0, "rollout-1");
        cluster.awaitStandby(a, "a");
        int atKill = cluster.events().size();
        coordinator.kill();
        cluster.awaitWork(a, atKill, "rollout-1");
        cluster.awaitStep(a, cluster.events().size());
        cluster.end(a, () -> TestCluster.child(a, "--standby").destroy(), atKill, true);
        TestCluster.await(
            a,
            "the next coordinator has told its servers' account",
            () -> cluster.log("a", "a-standby").contains("refused="));
        assertThat(cluster.log("a", "a-standby"))
            .contains("refused=none")
            .doesNotContain("completions=0 ");
      }
    }
  }
}
