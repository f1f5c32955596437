package io.troupe.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import akka.actor.testkit.typed.javadsl.ActorTestKit;
import akka.actor.testkit.typed.javadsl.TestProbe;
import akka.actor.typed.ActorRef;
import io.troupe.core.reward.Verdict;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.run.Attribution;
import io.troupe.core.run.Event;
import io.troupe.core.run.Input;
import io.troupe.core.run.OperatorCommand;
import io.troupe.core.run.RunEnd;
import io.troupe.core.run.RunState;
import io.troupe.runtime.prompt.Toys;
import io.troupe.store.checkpoint.Checkpoint;
import io.troupe.store.checkpoint.CheckpointListing;
import io.troupe.store.checkpoint.Checkpoints;
import io.troupe.telemetry.StepRow;
import io.troupe.verifiers.Verifier;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The whole loop in one process, with the toy policy. */
class RunTest {
  private final ActorTestKit actors = Toys.actors();
  private final EngineRegistry room = Toys.room();
  private final SmallRun small;
  private final Path folder;

  RunTest(@TempDir Path folder) throws IOException {
    this.folder = folder;
    this.small = new SmallRun(folder);
  }

  @AfterEach
  void stop() throws IOException {
    actors.shutdownTestKit();
    room.close();
    small.close();
  }

  @Test
  void run_fewSteps_completesWithItsRowsInOrderAndItsBooksBalanced() throws Exception {
    ActorRef<Run.Command> run = small.start(actors, room, Toys.settings(6, 30));
    SmallRun.Ended ended = small.awaitEnd();
    // The recorder closes the traces when it stops, and the run stops after it.
    actors.createTestProbe().expectTerminated(run);
    assertThat(ended.end()).isEqualTo(new RunEnd.Completed());
    assertThat(small.steps()).containsExactly(0L, 1L, 2L, 3L, 4L, 5L, 6L);
    assertThat(small.rows.stream().filter(row -> row.eval().isPresent()).map(StepRow::step))
        .containsExactly(0L, 2L, 4L, 6L);
    assertThat(small.rows.getFirst().training()).isEmpty();
    assertThat(small.rows.stream().flatMap(row -> row.training().stream()))
        .hasSize(6)
        .allSatisfy(row -> assertThat(row.stalenessMax()).isBetween(0L, 1L))
        .allSatisfy(row -> assertThat(row.trainedTokens()).isPositive());
    RunState state = ended.state();
    assertThat(state.balanced()).isTrue();
    assertThat(state.ledger().trained()).isEqualTo(6L * Toys.GROUPS_PER_STEP);
    assertThat(state.leases()).isEmpty();
    assertThat(small.warmups).containsExactly(1, 25, 30);
    assertThat(small.notes).isEmpty();
    CheckpointListing kept = Checkpoints.view(folder.resolve("checkpoints")).verify();
    assertThat(kept.whole()).extracting(Checkpoint::step).containsExactly(6L, 4L);
    assertThat(small.savedAt(6).ledger().trained()).isEqualTo(12);
    assertThat(Files.readAllLines(folder.resolve("traces/samples.jsonl"))).isNotEmpty();
    assertThat(Files.readAllLines(folder.resolve("traces/trained.jsonl"))).hasSize(6);
  }

  @Test
  void drain_running_savesEverythingAndEndsInterrupted() throws Exception {
    small.start(actors, room, Toys.settings(100_000, 30));
    small.awaitThirdRow();
    small.drain();
    SmallRun.Ended ended = small.awaitEnd();
    assertThat(ended.end()).isEqualTo(new RunEnd.Interrupted());
    RunState saved = small.savedAt(ended.state().version().number());
    assertThat(saved.ledger().trained()).isEqualTo(ended.state().ledger().trained());
    assertThat(saved.leases()).isEmpty();
    assertThat(saved.balanced()).isTrue();
    List<Long> steps = small.steps();
    assertThat(steps).isSorted().doesNotHaveDuplicates().startsWith(0L, 1L, 2L);
  }

  @Test
  void orders_running_areCarriedOutAnsweredAndTold() throws Exception {
    List<Event> orders = new CopyOnWriteArrayList<>();
    small.onEvent =
        event -> {
          if (event instanceof Event.OrderTaken) {
            orders.add(event);
          }
        };
    small.start(actors, room, Toys.settings(100_000, 0));
    small.awaitThirdRow();
    TestProbe<Coordinator.OrderReply> replies = actors.createTestProbe();
    Attribution order = new Attribution("ada", "to look");
    WorkerId worker = small.awaitWorker();
    for (OperatorCommand verb :
        List.of(
            new OperatorCommand.PauseAdmission(),
            new OperatorCommand.PauseAdmission(),
            new OperatorCommand.ResumeAdmission(),
            new OperatorCommand.RestartWorker(worker),
            new OperatorCommand.Drain())) {
      small
          .posts()
          .coordinator()
          .tell(new Coordinator.Order(new Input.Ordered(verb, order), replies.getRef()));
    }
    assertThat(replies.receiveSeveralMessages(5))
        .containsExactly(
            new Coordinator.OrderTaken(),
            new Coordinator.OrderRefused("admission is paused already"),
            new Coordinator.OrderTaken(),
            new Coordinator.OrderTaken(),
            new Coordinator.OrderTaken());
    assertThat(small.awaitEnd().end()).isEqualTo(new RunEnd.Interrupted());
    assertThat(orders)
        .startsWith(new Event.OrderTaken(new OperatorCommand.PauseAdmission(), order))
        .hasSize(4);
  }

  @Test
  void broken_running_failsWithTheReasonAndKeepsItsCheckpoints() throws Exception {
    small.start(actors, room, Toys.settings(100_000, 0));
    small.awaitThirdRow();
    small.posts().coordinator().tell(new Coordinator.Tell(new Input.Broken("no server is left")));
    SmallRun.Ended ended = small.awaitEnd();
    assertThat(ended.end()).isEqualTo(new RunEnd.Failed("no server is left"));
    assertThat(Checkpoints.view(folder.resolve("checkpoints")).verify().whole()).isNotEmpty();
  }

  @Test
  void drain_inTheWarmup_endsWithoutACheckpoint() throws Exception {
    small.start(actors, room, Toys.settings(10, 10_000_000));
    small.drain();
    assertThat(small.awaitEnd().end()).isEqualTo(new RunEnd.Interrupted());
    assertThat(Checkpoints.view(folder.resolve("checkpoints")).list().whole()).isEmpty();
  }

  @Test
  void run_onlyEqualRewards_failsWithTheReason() throws Exception {
    Verifier generous = (_, completion) -> new Verdict.Scored(1, completion, "");
    small.verifiers = Toys.service(generous);
    small.start(actors, room, Toys.settings(10, 0, 500));
    assertThat(small.awaitEnd().end())
        .isInstanceOfSatisfying(
            RunEnd.Failed.class,
            failed ->
                assertThat(failed.reason())
                    .startsWith(
                        "every completion of the last 500 groups was right, so there is"
                            + " nothing"));
  }
}
