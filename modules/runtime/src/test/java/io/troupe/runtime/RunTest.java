package io.troupe.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import akka.actor.testkit.typed.javadsl.ActorTestKit;
import akka.actor.testkit.typed.javadsl.TestProbe;
import akka.actor.typed.ActorRef;
import io.troupe.core.reward.Verdict;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.run.Event;
import io.troupe.core.run.Order;
import io.troupe.core.run.RunEnd;
import io.troupe.core.run.RunState;
import io.troupe.core.run.Verb;
import io.troupe.store.Checkpoint;
import io.troupe.store.CheckpointListing;
import io.troupe.store.Checkpoints;
import io.troupe.store.Journal;
import io.troupe.store.JournalSettings;
import io.troupe.store.JournalWriter;
import io.troupe.store.StateSnapshot;
import io.troupe.telemetry.StepRow;
import io.troupe.verifiers.Verifier;
import io.troupe.verifiers.pool.VerifierService;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The whole loop in one process, with the toy policy. */
class RunTest {
  private final ActorTestKit actors = Toys.actors();
  private final EngineRoom room = Toys.room();
  private final Path folder;
  private final Watcher watcher = new Watcher();

  RunTest(@TempDir Path folder) {
    this.folder = folder;
  }

  @AfterEach
  void stop() {
    actors.shutdownTestKit();
    room.close();
  }

  /** How a run ended, and in which state. */
  private record Ended(RunEnd end, RunState state) {}

  private static final class Watcher implements RunListener {
    private final List<StepRow> rows = new CopyOnWriteArrayList<>();
    private final List<String> notes = new CopyOnWriteArrayList<>();
    private final List<Event> orders = new CopyOnWriteArrayList<>();
    private final List<WorkerId> workers = new CopyOnWriteArrayList<>();
    private final List<Integer> warmups = new CopyOnWriteArrayList<>();
    private final CompletableFuture<Ended> ended = new CompletableFuture<>();
    private final CompletableFuture<Void> thirdRow = new CompletableFuture<>();

    @Override
    public void warmup(TrainerWorkshop.WarmupProgress progress) {
      warmups.add(progress.step());
    }

    @Override
    public void row(StepRow row) {
      rows.add(row);
      if (rows.size() == 3) {
        thirdRow.complete(null);
      }
    }

    @Override
    public void happened(long atMillis, Event event) {
      switch (event) {
        case Event.OrderTaken order -> orders.add(order);
        case Event.DemandRaised(WorkerId worker, long _) -> workers.add(worker);
        default -> {}
      }
    }

    @Override
    public void note(String sentence) {
      notes.add(sentence);
    }

    @Override
    public void ended(RunEnd end, RunState state) {
      ended.complete(new Ended(end, state));
    }

    List<Long> steps() {
      return rows.stream().map(StepRow::step).toList();
    }
  }

  private ActorRef<Run.Command> start(
      RunSettings settings, Verifier verifier, JournalWriter journal) throws IOException {
    long start = System.nanoTime();
    LongSupplier millis = () -> (System.nanoTime() - start) / 1_000_000;
    PromptPool pool = Toys.pool();
    WeightsInMemory weights = new WeightsInMemory();
    VerifierService service = Toys.service(verifier);
    return actors.spawn(
        Run.create(
            new RunWiring(
                settings,
                room,
                pool,
                weights,
                weights,
                settings.workers(),
                _ -> {},
                new Examination(Toys.prompts(), 8, Toys.policy().tokenizer(), service, 3),
                service,
                journal,
                Checkpoints.open(Files.createDirectories(folder.resolve("checkpoints"))),
                Traces.open(
                    Files.createDirectories(folder.resolve("traces")),
                    pool,
                    millis,
                    watcher.notes::add),
                Optional.empty(),
                false,
                0,
                millis,
                watcher)));
  }

  private JournalWriter journal() throws IOException {
    return JournalWriter.start(
        Journal.open(folder.resolve("journal"), JournalSettings.defaults()), 1024);
  }

  private RunState savedAt(long step) throws IOException {
    Path state =
        folder.resolve("checkpoints").resolve("step" + step).resolve(TrainerWorkshop.STATE_FILE);
    return StateSnapshot.read(state).orElseThrow().state();
  }

  @Test
  void run_fewSteps_completesWithItsRowsInOrderAndItsBooksBalanced() throws Exception {
    try (JournalWriter journal = journal()) {
      ActorRef<Run.Command> run = start(Toys.settings(6, 30), Toys.verifier(), journal);
      Ended ended = watcher.ended.get(120, TimeUnit.SECONDS);
      // The recorder closes the traces when it stops, and the run stops after it.
      actors.createTestProbe().expectTerminated(run);
      assertThat(ended.end()).isEqualTo(new RunEnd.Completed());
      assertThat(watcher.steps()).containsExactly(0L, 1L, 2L, 3L, 4L, 5L, 6L);
      assertThat(watcher.rows.stream().filter(row -> row.eval().isPresent()).map(StepRow::step))
          .containsExactly(0L, 2L, 4L, 6L);
      assertThat(watcher.rows.getFirst().training()).isEmpty();
      assertThat(watcher.rows.stream().flatMap(row -> row.training().stream()))
          .hasSize(6)
          .allSatisfy(row -> assertThat(row.stalenessMax()).isBetween(0L, 1L))
          .allSatisfy(row -> assertThat(row.trainedTokens()).isPositive());
      RunState state = ended.state();
      assertThat(state.balanced()).isTrue();
      assertThat(state.ledger().trained()).isEqualTo(6L * Toys.GROUPS_PER_STEP);
      assertThat(state.leases()).isEmpty();
      assertThat(watcher.warmups).containsExactly(1, 25, 30);
      assertThat(watcher.notes).isEmpty();
    }
    CheckpointListing kept = Checkpoints.view(folder.resolve("checkpoints")).verify();
    assertThat(kept.whole()).extracting(Checkpoint::step).containsExactly(6L, 4L);
    assertThat(savedAt(6).ledger().trained()).isEqualTo(12);
    assertThat(Files.readAllLines(folder.resolve("traces/samples.jsonl"))).isNotEmpty();
    assertThat(Files.readAllLines(folder.resolve("traces/trained.jsonl"))).hasSize(6);
  }

  @Test
  void drain_running_savesEverythingAndEndsInterrupted() throws Exception {
    try (JournalWriter journal = journal()) {
      ActorRef<Run.Command> run = start(Toys.settings(100_000, 30), Toys.verifier(), journal);
      watcher.thirdRow.get(120, TimeUnit.SECONDS);
      run.tell(new Run.Drain());
      Ended ended = watcher.ended.get(120, TimeUnit.SECONDS);
      assertThat(ended.end()).isEqualTo(new RunEnd.Interrupted());
      RunState saved = savedAt(ended.state().version().number());
      assertThat(saved.ledger().trained()).isEqualTo(ended.state().ledger().trained());
      assertThat(saved.leases()).isEmpty();
      assertThat(saved.balanced()).isTrue();
      List<Long> steps = watcher.steps();
      assertThat(steps).isSorted().doesNotHaveDuplicates().startsWith(0L, 1L, 2L);
    }
  }

  @Test
  void orders_running_areCarriedOutAnsweredAndTold() throws Exception {
    try (JournalWriter journal = journal()) {
      ActorRef<Run.Command> run = start(Toys.settings(100_000, 0), Toys.verifier(), journal);
      watcher.thirdRow.get(120, TimeUnit.SECONDS);
      TestProbe<Coordinator.OrderReply> replies = actors.createTestProbe();
      Order order = new Order("ada", "to look");
      WorkerId worker = watcher.workers.getFirst();
      for (Verb verb :
          List.of(
              new Verb.PauseAdmission(),
              new Verb.PauseAdmission(),
              new Verb.ResumeAdmission(),
              new Verb.RestartWorker(worker),
              new Verb.Drain())) {
        run.tell(new Run.Ordered(verb, order, replies.getRef()));
      }
      assertThat(replies.receiveSeveralMessages(5))
          .containsExactly(
              new Coordinator.OrderTaken(),
              new Coordinator.OrderRefused("admission is paused already"),
              new Coordinator.OrderTaken(),
              new Coordinator.OrderTaken(),
              new Coordinator.OrderTaken());
      assertThat(watcher.ended.get(120, TimeUnit.SECONDS).end())
          .isEqualTo(new RunEnd.Interrupted());
      assertThat(watcher.orders)
          .startsWith(new Event.OrderTaken(new Verb.PauseAdmission(), order))
          .hasSize(4);
    }
  }

  @Test
  void broken_running_failsWithTheReasonAndKeepsItsCheckpoints() throws Exception {
    try (JournalWriter journal = journal()) {
      ActorRef<Run.Command> run = start(Toys.settings(100_000, 0), Toys.verifier(), journal);
      watcher.thirdRow.get(120, TimeUnit.SECONDS);
      run.tell(new Run.Broken("no server is left"));
      Ended ended = watcher.ended.get(120, TimeUnit.SECONDS);
      assertThat(ended.end()).isEqualTo(new RunEnd.Failed("no server is left"));
      assertThat(Checkpoints.view(folder.resolve("checkpoints")).verify().whole()).isNotEmpty();
    }
  }

  @Test
  void drain_inTheWarmup_endsWithoutACheckpoint() throws Exception {
    try (JournalWriter journal = journal()) {
      ActorRef<Run.Command> run = start(Toys.settings(10, 10_000_000), Toys.verifier(), journal);
      run.tell(new Run.Drain());
      assertThat(watcher.ended.get(120, TimeUnit.SECONDS).end())
          .isEqualTo(new RunEnd.Interrupted());
      assertThat(Checkpoints.view(folder.resolve("checkpoints")).list().whole()).isEmpty();
    }
  }

  @Test
  void run_onlyEqualRewards_failsWithTheReason() throws Exception {
    Verifier generous = (_, completion) -> new Verdict.Scored(1, completion, "");
    try (JournalWriter journal = journal()) {
      start(Toys.settings(10, 0, 500), generous, journal);
      assertThat(watcher.ended.get(120, TimeUnit.SECONDS).end())
          .isInstanceOfSatisfying(
              RunEnd.Failed.class,
              failed ->
                  assertThat(failed.reason())
                      .startsWith(
                          "every completion of the last 500 groups was right, so there is"
                              + " nothing"));
    }
  }
}
