package io.troupe.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.base.process.ExitCode;
import io.troupe.core.run.Event;
import io.troupe.run.compose.TestRuns;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * A run whose trainer's ranks are processes, of which two neighbours are killed. On demand, as
 * {@link ClusterTest}: each of the processes takes seconds.
 */
@EnabledIfSystemProperty(named = "troupe.cluster.tests", matches = "true")
final class LostNeighboursTest {
  /** No checkpoint comes between the first steps and the loss. */
  private static final String RUN =
      TestRuns.TOY
              .replace("token_delay: 1ms", "token_delay: 100ms")
              .replace("every: 2", "every: 100000")
          + """
          cluster:
            worker_heap: 96
          placement:
            nodes: 1
            gpus_per_node: 4
            trainer_ranks: 3
            ranks_as: children
            rollout_workers: 1
          """;

  @TempDir private Path folder;

  @Test
  void run_twoNeighboursOfThreeRanksKilled_goesBackByAnEventOfTheJournal() throws Exception {
    Path home = folder.resolve("coordinator");
    try (ChildRun run = TestCluster.coordinatorIn(home, RUN);
        ChildRun _ =
            TestCluster.nodeIn(folder.resolve("a"), "a", "127.0.0.2", TestCluster.seed(run))) {
      run.awaitOut(10);
      for (int rank : new int[] {1, 2}) {
        TestCluster.child(run, "trainer-rank --rank " + rank).destroyForcibly();
      }
      run.awaitErr("trainer ranks go back to their last saved state and make");
      run.awaitErr("trainer ranks train again after");
      run.awaitOut(run.out().size() + 10);
      run.signal("TERM");
      assertThat(run.awaitExit()).as(run.said()).isEqualTo(ExitCode.ofSignal(15));
    }
    TestCluster cluster = new TestCluster(home, RUN);
    assertThat(cluster.events())
        .filteredOn(event -> event instanceof Event.RanksWentBack)
        .singleElement()
        .satisfies(
            event -> {
              Event.RanksWentBack back = (Event.RanksWentBack) event;
              assertThat(back.steps()).isBetween(1L, 100L);
              assertThat(back.reason()).isEqualTo("the ranks that kept piece 1 of 3 are lost");
            });
    cluster.audit();
  }
}
