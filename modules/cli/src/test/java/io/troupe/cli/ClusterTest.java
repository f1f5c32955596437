package io.troupe.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.base.process.Announcements;
import io.troupe.base.process.ExitCode;
import io.troupe.cli.ChildRun.Place;
import io.troupe.core.run.Event;
import io.troupe.core.run.Phase;
import io.troupe.core.run.RunEnd;
import io.troupe.run.compose.TestRuns;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * A run over real JVMs, of which some are killed; it continues by itself. The longer ones take
 * minutes on a busy machine, so they run on demand, {@link NetworkCutTest} too: {@code ./troupe
 * test -Dtroupe.cluster.tests=true -pl modules/cli -am -Dtest='ClusterTest,NetworkCutTest'
 * -Dsurefire.failIfNoSpecifiedTests=false}.
 */
final class ClusterTest {
  private static final String ON_DEMAND = "troupe.cluster.tests";

  @TempDir private Path folder;

  /** The losses fall together: what is left is a minority of what was there. */
  @Test
  void run_coordinatorAndWorkerKilledAtOnce_goesOnAndItsAccountAddsUp() throws Exception {
    TestCluster cluster = new TestCluster(folder, TestCluster.RUN);
    try (ChildRun coordinator = cluster.coordinator(Place.HERE);
        ChildRun a =
            cluster.node(Place.HERE, TestCluster.seed(coordinator), "a", "node,coordinator")) {
      cluster.awaitWork(a, 0, "a-w1");
      cluster.awaitStandby(a, "a");

      long killed = System.nanoTime();
      TestCluster.child(a, "a-w1").destroyForcibly();
      coordinator.kill();
      int atKill =
          cluster.events().size(); // a step that the dead coordinator has still made is no proof
      cluster.awaitStep(a, atKill);
      TestCluster.tell(
          "a run made a step after its coordinator and its worker were killed", killed);
      cluster.end(a, () -> TestCluster.child(a, "--standby").destroy(), atKill, true);
    }
  }

  @Test
  @EnabledIfSystemProperty(named = ON_DEMAND, matches = "true")
  void run_workerThenNodeThenCoordinatorKilled_goesOnAndItsAccountAddsUp() throws Exception {
    TestCluster cluster = new TestCluster(folder, TestCluster.RUN);
    try (ChildRun coordinator = cluster.coordinator(Place.HERE);
        ChildRun a =
            cluster.node(Place.HERE, TestCluster.seed(coordinator), "a", "node,coordinator");
        ChildRun b = cluster.node(Place.HERE, TestCluster.seed(coordinator), "b", "node")) {
      cluster.awaitWork(a, 0, "a-w1");
      cluster.awaitWork(b, 0, "b-w1");
      cluster.awaitStandby(a, "a");

      ProcessHandle worker = TestCluster.child(b, "b-w1");
      int before = cluster.events().size();
      long killed = System.nanoTime();
      worker.destroyForcibly();
      cluster.awaitWork(b, before, "b-w1");
      TestCluster.tell("a killed worker was back at work", killed);

      TestCluster.killWithChildren(b);
      killed = System.nanoTime();
      coordinator.kill();
      int atKill = cluster.events().size();
      cluster.awaitStep(a, atKill);
      TestCluster.tell("a killed coordinator's run made a step", killed);
      cluster.end(a, () -> TestCluster.child(a, "--standby").destroy(), atKill, true);
      a.signal("TERM");
      assertThat(a.awaitExit()).as(a.said()).isZero();
    }
  }

  /** A verifier dies, a node drains and comes back, and the host with the coordinator dies. */
  @Test
  @EnabledIfSystemProperty(named = ON_DEMAND, matches = "true")
  void run_verifierKilledNodeDrainedHostOfTheCoordinatorKilled_goesOnAndItsAccountAddsUp()
      throws Exception {
    TestCluster cluster = new TestCluster(folder, TestCluster.withVerifiers(folder));
    try (ChildRun coordinator = cluster.coordinator(Place.HERE);
        ChildRun a =
            cluster.node(Place.HERE, TestCluster.seed(coordinator), "a", "node,coordinator")) {
      String seed = TestCluster.seed(coordinator);
      cluster.awaitWork(a, 0, "a-w1");

      ProcessHandle worker = TestCluster.child(a, "a-w1");
      ProcessHandle verifier = ChildRun.children(worker).getFirst();
      int before = cluster.events().size();
      verifier.destroyForcibly();
      verifier.onExit().join();
      cluster.awaitStep(a, before + 1);
      TestCluster.await(a, "another verifier is there", () -> !ChildRun.children(worker).isEmpty());
      assertThat(worker.isAlive()).isTrue();

      try (ChildRun b = cluster.node(Place.HERE, seed, "b", "node")) {
        cluster.awaitWork(b, 0, "b-w1");
        try (ChildRun drain =
            ChildRun.start(folder, ChildRun.Size.TOY, "drain-node", "b", "--seed", seed)) {
          assertThat(drain.awaitExit()).as(drain.said()).isZero();
        }
        assertThat(b.awaitExit()).as(b.said()).isZero();
      }
      assertThat(cluster.lost("b-w1")).as("leases that a drained worker lost").isEmpty();
      cluster.awaitStandby(a, "a");

      try (ChildRun b = cluster.node(Place.HERE, seed, "b", "node")) {
        cluster.awaitWork(b, cluster.events().size(), "b-w1");
        long killed = System.nanoTime();
        coordinator.kill();
        int atKill = cluster.events().size();
        TestCluster.killWithChildren(b);
        cluster.awaitStep(a, atKill);
        TestCluster.tell("a run made a step after the host of its coordinator was killed", killed);
        cluster.end(a, () -> TestCluster.child(a, "--standby").destroy(), atKill, true);
      }
    }
  }

  /** The decoder, sampled by two workers and trained by two ranks, each a process with PyTorch. */
  @Test
  @EnabledIfSystemProperty(named = ON_DEMAND, matches = "true")
  void run_decoderOverWorkersAndRanks_endsAndItsAccountAddsUp() throws Exception {
    TestCluster cluster = new TestCluster(folder, TestCluster.DECODER);
    String yaml = TestRuns.write(folder, TestCluster.DECODER);
    try (ChildRun coordinator =
        ChildRun.start(folder, ChildRun.Size.DJL, "train", yaml, "--cluster", "--json")) {
      String seed = TestCluster.seed(coordinator);
      try (ChildRun node =
          ChildRun.start(
              folder, ChildRun.Size.TOY, "node", "--seed", seed, "--name", "a", "--gpus", "none")) {
        TestCluster.await(
            coordinator,
            "the run ends",
            () -> cluster.happenedAfter(0, event -> event instanceof Event.RunEnded));
        assertThat(coordinator.awaitExit()).as(coordinator.said()).isZero();
        assertThat(node.said()).contains("works for");
      }
    }
    assertThat(cluster.grantedAfter(0, "a-w1")).isTrue();
    assertThat(cluster.grantedAfter(0, "a-w2")).isTrue();
    assertThat(cluster.run().path().resolve("ranks/trainer-rank-1.log")).exists();
    cluster.audit();
  }

  /**
   * The run ends with its coordinator: who waits does not take over, and the nodes wait for a
   * resume, and then work by the configuration that it changes.
   */
  @Test
  @EnabledIfSystemProperty(named = ON_DEMAND, matches = "true")
  void run_coordinatorTerminated_endsAndIsResumedThroughANode() throws Exception {
    TestCluster cluster = new TestCluster(folder, TestCluster.RUN);
    try (ChildRun coordinator = cluster.coordinator(Place.HERE);
        ChildRun a =
            cluster.node(Place.HERE, TestCluster.seed(coordinator), "a", "node,coordinator")) {
      cluster.awaitWork(a, 0, "a-w1");
      cluster.awaitStandby(a, "a");
      cluster.awaitStep(a, 0);

      coordinator.signal("TERM");
      assertThat(coordinator.awaitExit()).as(coordinator.said()).isEqualTo(ExitCode.ofSignal(15));
      assertThat(coordinator.err())
          .anyMatch(line -> line.startsWith("draining"))
          .anyMatch(line -> line.startsWith("paused step "));
      TestCluster.await(
          a, "worker and waiting coordinator are ended", () -> a.children().isEmpty());
      RunHistory ended = RunHistory.replay(cluster.run(), 1);
      assertThat(ended.state().phase()).isEqualTo(new Phase.Ended(new RunEnd.Interrupted()));
      assertThat(ended.resumes()).as("nobody took over").isZero();
      cluster.audit();

      int atEnd = cluster.events().size();
      String node = a.awaitErr(Announcements.AGENT_READY).replaceAll(".* at ", "");
      List<String> resume = new ArrayList<>(List.of(coordinator.resumeArguments()));
      assertThat(resume).endsWith("--seed", node).contains("--cluster");
      resume.addAll(List.of("--set", "rollout.temperature=0.875"));
      try (ChildRun next =
          ChildRun.start(folder, ChildRun.Size.TOY, resume.toArray(String[]::new))) {
        cluster.awaitWork(next, atEnd, "a-w1");
        assertThat(cluster.configurationAt("a")).contains("temperature: 0.875");
        cluster.awaitStep(next, atEnd);
        cluster.end(a, () -> terminate(next), atEnd, true);
        assertThat(next.awaitExit()).as(next.said()).isEqualTo(ExitCode.ofSignal(15));
      }
      a.signal("TERM");
      assertThat(a.awaitExit()).as(a.said()).isZero();
    }
  }

  private static void terminate(ChildRun run) {
    ProcessHandle.of(run.pid()).orElseThrow().destroy();
  }
}
