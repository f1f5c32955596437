package io.troupe.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.base.process.Announcements;
import io.troupe.base.process.ExitCode;
import io.troupe.cli.ChildRun.Place;
import io.troupe.core.run.Phase;
import io.troupe.core.run.RunEnd;
import io.troupe.runtime.Run;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** Actors of a cluster's coordinating process that throw while the process lives. */
final class FailingActorsTest {
  private static final String WORKER = "w-1";

  /** Weights lie in the run folder, so that the test's worker needs no node beside it. */
  private static final String RUN = TestCluster.RUN + "  weights: shared\n";

  /**
   * The events of a resume: it undoes the work of the process before, and continues from a
   * checkpoint.
   */
  private static final int EVENTS_OF_A_RESUME = 2;

  @TempDir private Path folder;

  /** An evaluator is replaced. A coordinator that throws ends its process; a standby continues. */
  @Test
  void coordinator_throws_itsProcessEndsAsFailedAndAStandbyContinues() throws Exception {
    TestCluster cluster = new TestCluster(folder, RUN);
    try (ChildRun coordinator = cluster.coordinator(Place.HERE);
        ChildRun standby = standby(cluster, TestCluster.seed(coordinator));
        TestWorker worker = TestWorker.at(cluster.run(), TestCluster.seed(coordinator), WORKER)) {
      standby.awaitErr(Announcements.COORDINATOR_AT);
      Run.RunActors posts = worker.awaitPosts();
      cluster.awaitStep(coordinator, 0);
      int before = coordinator.out().size();
      worker.fail(posts, "evaluator");
      TestCluster.await(
          coordinator, "evaluations continue", () -> evaluations(coordinator, before) >= 3);

      worker.fail(posts.coordinator());
      assertThat(coordinator.awaitExit()).as(coordinator.said()).isEqualTo(ExitCode.FAILED.code());
      assertThat(coordinator.err()).contains("error: the coordinator failed: Kill");
      Run.RunActors next = worker.awaitPosts();
      assertThat(next.coordinator().path().address())
          .isNotEqualTo(posts.coordinator().path().address());
      cluster.awaitStep(standby, cluster.events().size());
      standby.signal("TERM");
      assertThat(standby.awaitExit()).as(standby.said()).isEqualTo(ExitCode.ofSignal(15));
    }
    RunHistory history = RunHistory.replay(cluster.run(), 1);
    assertThat(history.state().phase()).isEqualTo(new Phase.Ended(new RunEnd.Interrupted()));
    assertThat(history.resumes()).isEqualTo(EVENTS_OF_A_RESUME);
    cluster.audit();
  }

  /** Trainer, recorder and verifier pool end the run, also for who waits; each time it resumes. */
  @Test
  @EnabledIfSystemProperty(named = "troupe.cluster.tests", matches = "true")
  void otherActor_throws_endsTheRunAsFailedForAllOfItsCoordinators() throws Exception {
    TestCluster cluster = new TestCluster(folder, RUN);
    try (ChildRun coordinator = cluster.coordinator(Place.HERE);
        ChildRun standby = standby(cluster, TestCluster.seed(coordinator))) {
      standby.awaitErr(Announcements.COORDINATOR_AT);
      failedBy(cluster, coordinator, "trainer", "the trainer failed: Kill");
      assertThat(standby.awaitExit()).as(standby.said()).isZero();
    }
    try (ChildRun coordinator = resumed(cluster)) {
      failedBy(cluster, coordinator, "recorder", "the recorder of the traces failed: Kill");
    }
    try (ChildRun coordinator = resumed(cluster)) {
      failedBy(cluster, coordinator, "verifiers", "the verifier pool failed: Kill");
    }
    assertThat(RunHistory.replay(cluster.run(), 1).resumes()).isEqualTo(2 * EVENTS_OF_A_RESUME);
  }

  private static void failedBy(
      TestCluster cluster, ChildRun coordinator, String actor, String reason) throws Exception {
    int before = cluster.events().size();
    try (TestWorker worker =
        TestWorker.at(cluster.run(), TestCluster.seed(coordinator), WORKER + "-" + actor)) {
      Run.RunActors posts = worker.awaitPosts();
      cluster.awaitStep(coordinator, before);
      worker.fail(posts, actor);
      assertThat(coordinator.awaitExit()).as(coordinator.said()).isEqualTo(ExitCode.FAILED.code());
    }
    assertThat(coordinator.err()).contains("error: " + reason);
    assertThat(RunHistory.replay(cluster.run(), 1).state().phase())
        .isEqualTo(new Phase.Ended(new RunEnd.Failed(reason)));
    cluster.audit();
  }

  private static long evaluations(ChildRun coordinator, int after) {
    return coordinator.out().stream().skip(after).filter(row -> row.contains("\"eval\"")).count();
  }

  private ChildRun standby(TestCluster cluster, String seed) throws Exception {
    return resume(cluster, "--standby", "--seed", seed);
  }

  private ChildRun resumed(TestCluster cluster) throws Exception {
    return resume(cluster, "--cluster");
  }

  private ChildRun resume(TestCluster cluster, String... options) throws Exception {
    List<String> arguments =
        new ArrayList<>(List.of("train", "--json", "--resume", cluster.run().name()));
    arguments.addAll(List.of(options));
    return ChildRun.start(folder, ChildRun.Size.TOY, arguments.toArray(String[]::new));
  }
}
