package io.troupe.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import akka.actor.testkit.typed.javadsl.ActorTestKit;
import akka.actor.testkit.typed.javadsl.TestProbe;
import akka.actor.typed.ActorRef;
import io.troupe.core.prompt.PromptCursor;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.ScoredGroup;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.run.Event;
import io.troupe.core.run.Input;
import io.troupe.core.run.LeaseFailure;
import io.troupe.core.run.RunState;
import io.troupe.core.weights.WeightVersion;
import io.troupe.runtime.prompt.Toys;
import io.troupe.runtime.weights.SampledWeights;
import io.troupe.store.checkpoint.BufferedGroupFile;
import io.troupe.store.checkpoint.Checkpoints;
import io.troupe.store.checkpoint.StepTokenFiles;
import io.troupe.store.segment.JournalPosition;
import io.troupe.store.state.StateSnapshot;
import io.troupe.telemetry.RowQueue;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TrainerTest {
  private static final LeaseId LEASE = Toys.lease(1, 1);

  private final ActorTestKit actors = Toys.actors();
  private final EngineRegistry room = Toys.room();
  private final TestProbe<Coordinator.Command> coordinator = actors.createTestProbe();

  private final Path folder;

  TrainerTest(@TempDir Path folder) {
    this.folder = folder;
  }

  @AfterEach
  void stop() {
    actors.shutdownTestKit();
    room.close();
  }

  private ActorRef<Trainer.Command> trainer() throws IOException {
    return trainer(Optional.empty());
  }

  private ActorRef<Trainer.Command> trainer(Optional<TrainerTasks.Resume> resume)
      throws IOException {
    return actors.spawn(
        Trainer.create(
            new TrainerTasks(
                room,
                Toys.settings(10, 0),
                Toys.pool(),
                Checkpoints.open(folder),
                StepTokenFiles.off(),
                resume,
                _ -> {}),
            coordinator.getRef()));
  }

  private ActorRef<Trainer.Command> ready() throws IOException {
    ActorRef<Trainer.Command> trainer = trainer();
    trainer.tell(new Trainer.Prepare());
    coordinator.expectMessageClass(Coordinator.TrainerReady.class);
    return trainer;
  }

  /** Returns the delivery of a worker whose engine holds the base weights of the trainer's seed. */
  private static Trainer.Deliver deliver(ScoredGroup group) {
    String digest = Toys.policy().newTrainer(1).snapshot(WeightVersion.BASE).digest();
    return new Trainer.Deliver(group, List.of(new SampledWeights(WeightVersion.BASE, digest)));
  }

  private static RunState buffered(ScoredGroup group) {
    WorkerId worker = new WorkerId("w");
    return RunState.INITIAL
        .evolve(new Event.RunStarted())
        .evolve(new Event.DemandRaised(worker, 1))
        .evolve(new Event.GroupAdmitted(new GroupId(1), 0, 0, new PromptCursor(0, 1)))
        .evolve(new Event.LeaseGranted(group.lease(), worker, WeightVersion.BASE, 9))
        .evolve(new Event.GroupBuffered(group.summary()));
  }

  private List<ScoredGroup> saved(ActorRef<Trainer.Command> trainer, RunState state)
      throws IOException {
    StateSnapshot snapshot = new StateSnapshot(new JournalPosition(1, 99, 4, 1), state);
    trainer.tell(new Trainer.Save(0, snapshot, RowQueue.EMPTY, true));
    coordinator.expectMessage(new Coordinator.Tell(new Input.CheckpointSaved(0, true)));
    Path checkpoint = folder.resolve("step0");
    assertThat(StateSnapshot.read(checkpoint.resolve(TrainerTasks.STATE_FILE))).contains(snapshot);
    return BufferedGroupFile.read(checkpoint.resolve(TrainerTasks.GROUPS_FILE));
  }

  @Test
  void prepare_freshPolicy_isReadyWithTheBase() throws IOException {
    trainer().tell(new Trainer.Prepare());
    Coordinator.TrainerReady ready = coordinator.expectMessageClass(Coordinator.TrainerReady.class);
    assertThat(ready.snapshot().version()).isEqualTo(WeightVersion.BASE);
  }

  @Test
  void deliver_twice_reportsBothAndKeepsTheFirst() throws IOException {
    ActorRef<Trainer.Command> trainer = ready();
    ScoredGroup first = Toys.group(LEASE, 0, 1);
    ScoredGroup second = Toys.group(LEASE, 1, 0);
    trainer.tell(deliver(first));
    trainer.tell(deliver(second));
    coordinator.expectMessage(
        new Coordinator.Tell(new Input.GroupScored(first.summary(), first.digests())));
    coordinator.expectMessage(
        new Coordinator.Tell(new Input.GroupScored(second.summary(), second.digests())));
    assertThat(saved(trainer, buffered(first)))
        .extracting(ScoredGroup::rewards)
        .containsExactly(List.of(0.0, 1.0));
  }

  @Test
  void deliver_sampledWithOtherWeights_isRefused() throws IOException {
    ActorRef<Trainer.Command> trainer = ready();
    List<SampledWeights> others = List.of(new SampledWeights(WeightVersion.BASE, "abc"));
    trainer.tell(new Trainer.Deliver(Toys.group(LEASE, 0, 1), others));
    coordinator.expectMessage(
        new Coordinator.Tell(
            new Input.GroupFailed(
                LEASE,
                new LeaseFailure.OfEngine(
                    "sampled with other weights than those published as v0"))));
  }

  @Test
  void forget_group_letsItGo() throws IOException {
    ActorRef<Trainer.Command> trainer = ready();
    trainer.tell(deliver(Toys.group(LEASE, 0, 1)));
    trainer.tell(new Trainer.Forget(LEASE));
    trainer.tell(deliver(Toys.group(LEASE, 1, 0)));
    coordinator.receiveSeveralMessages(2);
    assertThat(saved(trainer, buffered(Toys.group(LEASE, 1, 0))))
        .extracting(ScoredGroup::rewards)
        .containsExactly(List.of(1.0, 0.0));
  }

  @Test
  void train_groups_movesTheWeights() throws IOException {
    ActorRef<Trainer.Command> trainer = ready();
    ScoredGroup group = Toys.group(LEASE, 0, 1);
    trainer.tell(deliver(group));
    coordinator.expectMessage(
        new Coordinator.Tell(new Input.GroupScored(group.summary(), group.digests())));
    trainer.tell(new Trainer.Train(1, WeightVersion.BASE, List.of(LEASE)));
    Coordinator.StepDone done = coordinator.expectMessageClass(Coordinator.StepDone.class);
    assertThat(done.step()).isEqualTo(1);
    TrainerTasks.WeightsUpdated moved = (TrainerTasks.WeightsUpdated) done.result();
    assertThat(moved.snapshot().version()).isEqualTo(new WeightVersion(1));
    assertThat(moved.metrics().trainedTokens()).isEqualTo(2);
    assertThat(moved.metrics().outcome().gradientNorm()).isPositive();
    assertThat(moved.metrics().learningRate()).isEqualTo(0.05);
  }

  @Test
  void prepare_resumed_hasTheGroupsOfTheCheckpoint() throws IOException {
    ActorRef<Trainer.Command> before = ready();
    ScoredGroup group = Toys.group(LEASE, 0, 1);
    before.tell(deliver(group));
    coordinator.expectMessage(
        new Coordinator.Tell(new Input.GroupScored(group.summary(), group.digests())));
    RunState state = buffered(group);
    saved(before, state);
    ActorRef<Trainer.Command> after =
        trainer(
            Optional.of(new TrainerTasks.Resume(folder.resolve("step0"), state, RowQueue.EMPTY)));
    after.tell(new Trainer.Prepare());
    coordinator.expectMessageClass(Coordinator.TrainerReady.class);
    after.tell(new Trainer.Train(1, WeightVersion.BASE, List.of(LEASE)));
    assertThat(coordinator.expectMessageClass(Coordinator.StepDone.class).result())
        .isInstanceOf(TrainerTasks.WeightsUpdated.class);
  }

  @Test
  void train_beforePrepare_isBroken() throws IOException {
    ActorRef<Trainer.Command> trainer = trainer();
    trainer.tell(new Trainer.Train(1, WeightVersion.BASE, List.of()));
    coordinator.expectMessage(
        new Coordinator.Tell(new Input.Broken("step 1 failed: the policy is not prepared")));
  }
}
