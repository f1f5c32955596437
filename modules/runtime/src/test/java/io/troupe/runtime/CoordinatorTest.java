package io.troupe.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import akka.actor.testkit.typed.javadsl.ActorTestKit;
import akka.actor.testkit.typed.javadsl.FishingOutcomes;
import akka.actor.testkit.typed.javadsl.TestProbe;
import akka.actor.typed.ActorRef;
import io.troupe.core.completion.TokenVersions;
import io.troupe.core.outage.OutageLimits;
import io.troupe.core.prompt.PromptSampling;
import io.troupe.core.rollout.GroupSummary;
import io.troupe.core.rollout.StalePolicy;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.run.Coordination;
import io.troupe.core.run.Event;
import io.troupe.core.run.Input;
import io.troupe.core.run.ProcessFacts;
import io.troupe.core.run.RunEnd;
import io.troupe.core.run.RunLimits;
import io.troupe.core.run.RunState;
import io.troupe.core.weights.WeightVersion;
import io.troupe.runtime.prompt.Assignment;
import io.troupe.runtime.prompt.Toys;
import io.troupe.runtime.weights.InMemoryWeights;
import io.troupe.store.journal.Journal;
import io.troupe.store.journal.JournalSettings;
import io.troupe.store.journal.JournalSuffix;
import io.troupe.store.journal.JournalWriter;
import io.troupe.store.state.RunJson;
import io.troupe.store.state.StateSnapshot;
import io.troupe.telemetry.RowQueue;
import io.troupe.telemetry.StepMeter;
import io.troupe.telemetry.StepRow;
import io.troupe.testkit.Await;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The coordinator alone, with probes in the place of all others. */
class CoordinatorTest {
  /**
   * The groups in flight of a run on a thousand GPUs: more decisions than the journal's queue
   * holds.
   */
  private static final int GROUPS = 3_000;

  private static final TokenVersions ONE_TOKEN = TokenVersions.uniform(WeightVersion.BASE, 1);
  private static final WorkerId WORKER = new WorkerId("w");

  private final ActorTestKit actors = Toys.actors();
  private final TestProbe<Trainer.Command> trainer = actors.createTestProbe();
  private final TestProbe<RolloutWorker.Command> worker = actors.createTestProbe();
  private final TestProbe<Run.Command> run = actors.createTestProbe();
  private final CountDownLatch buffered = new CountDownLatch(GROUPS);
  private final AtomicLong millis = new AtomicLong();
  private final JournalWriter journal;
  private final Path folder;

  CoordinatorTest(@TempDir Path folder) throws Exception {
    this.folder = folder;
    this.journal =
        JournalWriter.start(
            Journal.open(folder, JournalSettings.defaults()),
            JournalSettings.defaults().queueCapacity());
  }

  @AfterEach
  void stop() throws Exception {
    actors.shutdownTestKit();
    journal.close();
  }

  private ActorRef<Coordinator.Command> coordinator() {
    return coordinator(false, Optional.empty());
  }

  private ActorRef<Coordinator.Command> coordinator(
      boolean again, Optional<TrainerTasks.Resume> resume) {
    RunLimits limits =
        new RunLimits(
            new RunLimits.Prompts(100, 1, PromptSampling.UNIFORM, 3),
            new RunLimits.Groups(2, GROUPS, 1_000_000, false, false, 1_000_000),
            new RunLimits.Step(GROUPS, 1, StalePolicy.MASK, false),
            new RunLimits.Schedule(10, 0, 0, 0, 0, 1_000_000),
            OutageLimits.DEFAULT);
    return actors.spawn(
        Coordinator.create(
            new Coordinator.Wiring(
                new Coordination(limits),
                Toys.pool(),
                new InMemoryWeights(),
                journal,
                new ProcessFacts(new TreeMap<>(), ""),
                resume,
                again,
                0,
                millis::get,
                () -> StepMeter.Verification.NONE,
                () -> 0,
                actors.<Recorder.Command>createTestProbe().getRef(),
                run.getRef(),
                new Watcher())));
  }

  private final class Watcher implements RunListener {
    @Override
    public void warmup(TrainerTasks.WarmupProgress progress) {}

    @Override
    public void row(StepRow row) {}

    @Override
    public void note(String sentence) {}

    @Override
    public void happened(long atMillis, Event event) {
      if (event instanceof Event.GroupBuffered) {
        buffered.countDown();
      }
    }

    @Override
    public void ended(RunEnd end, RunState state) {}
  }

  /** Stops the journal's thread, as a disk does that does not answer, until the gate opens. */
  private void stallUntil(CountDownLatch gate) {
    CompletableFuture<Boolean> stalled = new CompletableFuture<>();
    byte[] nothing = RunJson.encode(new RunJson.Entry(0, List.of()));
    var _ =
        journal
            .append(List.of(nothing))
            .thenRun(
                () -> {
                  // A stage that is complete already runs this on the thread of the test.
                  boolean writer = Thread.currentThread().getName().equals("journal-writer");
                  stalled.complete(writer);
                  if (writer) {
                    await(gate);
                  }
                });
    if (!stalled.join()) {
      stallUntil(gate);
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(120, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void tick_withoutAnyWorkerForMinutes_saysSoEveryFiveMinutesAndSavesAfterTheTimeout() {
    ActorRef<Coordinator.Command> coordinator = coordinator();
    coordinator.tell(new Coordinator.AttachTrainer(trainer.getRef()));
    coordinator.tell(
        new Coordinator.TrainerReady(Toys.policy().newTrainer(1).snapshot(WeightVersion.BASE)));
    trainer.expectMessageClass(Trainer.Save.class);
    for (int minutes : List.of(5, 10)) {
      millis.set(TimeUnit.MINUTES.toMillis(minutes));
      run.expectMessage(
          new Run.Note(
              "no worker has been there for %d min, so nothing is sampled; look at the workers' logs"
                  .formatted(minutes)));
    }
    millis.addAndGet(OutageLimits.DEFAULT.timeoutMillis());
    trainer.expectMessageClass(Trainer.Save.class);
  }

  @Test
  void create_journalOfAnEarlierProcess_isFsyncedBeforeAnythingIsGranted() {
    coordinator(true, Optional.empty());
    Await.until(
        "the record that fences start from is fsynced",
        () -> {
          Path mark = folder.resolve("synced.json");
          return Files.exists(mark) && Files.readString(mark).contains("\"sequence\":1,");
        });
  }

  @Test
  void trainerReady_ofAResumedRunThatWasDrainedBefore_resumesNothing() throws Exception {
    ActorRef<Coordinator.Command> coordinator =
        coordinator(
            true,
            Optional.of(
                new TrainerTasks.Resume(folder.resolve("v0"), RunState.INITIAL, RowQueue.EMPTY)));
    coordinator.tell(new Coordinator.AttachTrainer(trainer.getRef()));
    coordinator.tell(new Coordinator.Register(WORKER, worker.getRef()));
    coordinator.tell(new Coordinator.Report(new Input.DemandRaised(WORKER, 4)));
    coordinator.tell(new Coordinator.Tell(new Input.DrainRequested()));
    coordinator.tell(
        new Coordinator.TrainerReady(Toys.policy().newTrainer(1).snapshot(WeightVersion.BASE)));
    assertThat(run.expectMessageClass(Run.Stopped.class).end()).isEqualTo(new RunEnd.Interrupted());
  }

  @Test
  void trainerReady_whileWorkersHaveDemand_checkpointIsOfTheJournalBeforeTheGrants()
      throws Exception {
    ActorRef<Coordinator.Command> coordinator = coordinator();
    coordinator.tell(new Coordinator.AttachTrainer(trainer.getRef()));
    coordinator.tell(new Coordinator.Register(WORKER, worker.getRef()));
    coordinator.tell(new Coordinator.Report(new Input.DemandRaised(WORKER, 4)));
    coordinator.tell(
        new Coordinator.TrainerReady(Toys.policy().newTrainer(1).snapshot(WeightVersion.BASE)));
    StateSnapshot saved = trainer.expectMessageClass(Trainer.Save.class).snapshot();
    assertThat(saved.state().lastFence()).isZero();
    worker.fishForMessage(
        Duration.ofSeconds(60),
        command ->
            command instanceof RolloutWorker.Produce
                ? FishingOutcomes.complete()
                : FishingOutcomes.continueAndIgnore());
    assertThat(JournalSuffix.since(folder, saved).lastFence()).isEqualTo(4);
  }

  @Test
  void groupScored_thousandsWhileTheDiskStalls_waitAndAreTrainedOnOnceItAnswers() {
    ActorRef<Coordinator.Command> coordinator = coordinator();
    coordinator.tell(new Coordinator.AttachTrainer(trainer.getRef()));
    coordinator.tell(
        new Coordinator.TrainerReady(Toys.policy().newTrainer(1).snapshot(WeightVersion.BASE)));
    trainer.expectMessageClass(Trainer.Save.class);
    coordinator.tell(new Coordinator.Register(WORKER, worker.getRef()));
    coordinator.tell(new Coordinator.Report(new Input.DemandRaised(WORKER, GROUPS)));
    List<Assignment> assignments =
        worker
            .fishForMessage(
                Duration.ofSeconds(60),
                command ->
                    command instanceof RolloutWorker.Produce
                        ? FishingOutcomes.complete()
                        : FishingOutcomes.continueAndIgnore())
            .stream()
            .flatMap(command -> ((RolloutWorker.Produce) command).assignments().stream())
            .toList();
    assertThat(assignments).hasSize(GROUPS);

    CountDownLatch gate = new CountDownLatch(1);
    stallUntil(gate);
    for (int i = 0; i < GROUPS; i++) {
      var lease = assignments.get(i).lease();
      coordinator.tell(new Coordinator.Report(new Input.GroupSampled(lease)));
      coordinator.tell(new Coordinator.Report(new Input.DemandRaised(WORKER, GROUPS + i + 1)));
      coordinator.tell(
          new Coordinator.Tell(
              new Input.GroupScored(
                  new GroupSummary(lease, List.of(1.0, 0.0), List.of(ONE_TOKEN, ONE_TOKEN)))));
    }
    await(buffered);
    gate.countDown();

    assertThat(trainer.expectMessageClass(Trainer.Train.class).groups()).hasSize(GROUPS);
    coordinator.tell(new Coordinator.Tell(new Input.Broken("the test is over")));
    assertThat(run.expectMessageClass(Run.Stopped.class).end())
        .isEqualTo(new RunEnd.Failed("the test is over"));
  }
}
