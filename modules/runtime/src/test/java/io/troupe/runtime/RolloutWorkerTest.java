package io.troupe.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import akka.actor.testkit.typed.javadsl.ActorTestKit;
import akka.actor.testkit.typed.javadsl.TestProbe;
import akka.actor.typed.ActorRef;
import io.troupe.core.completion.Completion;
import io.troupe.core.reward.EpisodeText;
import io.troupe.core.reward.Verdict;
import io.troupe.core.rollout.GroupSize;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.run.Input;
import io.troupe.core.run.LeaseFailure;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.runtime.prompt.SourceSampling;
import io.troupe.runtime.prompt.Toys;
import io.troupe.runtime.weights.InMemoryWeights;
import io.troupe.runtime.weights.PublishedWeights;
import io.troupe.runtime.weights.SampledWeights;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RolloutWorkerTest {
  private final ActorTestKit actors = Toys.actors();
  private final EngineRegistry room = Toys.room();
  private final InMemoryWeights weights = new InMemoryWeights();
  private final TestProbe<Coordinator.Command> coordinator = actors.createTestProbe();
  private final TestProbe<Trainer.Command> trainer = actors.createTestProbe();
  private final TestProbe<VerifierPool.Command> verifiers = actors.createTestProbe();
  private final TestProbe<Recorder.Command> recorder = actors.createTestProbe();
  private final ActorRef<RolloutWorker.Command> worker = spawned(room);
  private final WorkerId id = registered();

  @AfterEach
  void stop() {
    actors.shutdownTestKit();
    room.close();
  }

  private ActorRef<RolloutWorker.Command> spawned(EngineRegistry engines) {
    return actors.spawn(
        RolloutWorker.create(
            new RolloutWorker.Wiring(
                engines,
                weights,
                SourceSampling.of(new SamplingSettings(1, 3)),
                GroupSize.fixed(2),
                4,
                coordinator.getRef(),
                trainer.getRef(),
                verifiers.getRef(),
                recorder.getRef())));
  }

  private WorkerId registered() {
    Coordinator.Register register = coordinator.expectMessageClass(Coordinator.Register.class);
    assertThat(register.ref()).isEqualTo(worker);
    return register.worker();
  }

  private RolloutWorker.WeightsPublished published(WeightSnapshot snapshot) {
    return new RolloutWorker.WeightsPublished(
        weights.publish(snapshot).toCompletableFuture().join());
  }

  private static WeightSnapshot weights() {
    return Toys.policy().newTrainer(1).snapshot(WeightVersion.BASE);
  }

  private VerifierPool.Verify produced(long group) {
    return produced(group, group);
  }

  private VerifierPool.Verify produced(long count, long group) {
    worker.tell(
        new RolloutWorker.Produce(
            WeightVersion.BASE,
            List.of(Toys.pool().assignment(Toys.lease(group, group), 12, 0, 0))));
    coordinator.expectMessage(
        new Coordinator.Report(new Input.GroupSampled(Toys.lease(group, group))));
    coordinator.expectMessage(new Coordinator.Report(new Input.DemandRaised(id, 4 + count)));
    return verifiers.expectMessageClass(VerifierPool.Verify.class);
  }

  @Test
  void start_asksForWhatItsEngineDecodesAtATime() {
    coordinator.expectMessage(new Coordinator.Report(new Input.DemandRaised(id, 4)));
  }

  @Test
  void start_engineThatDoesNotServeYet_asksForWorkOnceItDoes() {
    coordinator.expectMessage(new Coordinator.Report(new Input.DemandRaised(id, 4)));
    Servers servers = new Servers();
    try (EngineRegistry engines = new EngineRegistry(Toys.policy(), () -> servers, _ -> {})) {
      var _ = spawned(engines);
      WorkerId other = coordinator.expectMessageClass(Coordinator.Register.class).worker();
      servers.serves.complete(true);
      coordinator.expectMessage(new Coordinator.Report(new Input.DemandRaised(other, 4)));
      servers.lost.complete("given up");
      coordinator.expectMessage(new Coordinator.Report(new Input.WorkerRetired(other)));
    }
  }

  @Test
  void start_engineThatIsLostBeforeItServes_retiresAndNeverAsks() {
    coordinator.expectMessage(new Coordinator.Report(new Input.DemandRaised(id, 4)));
    Servers servers = new Servers();
    try (EngineRegistry engines = new EngineRegistry(Toys.policy(), () -> servers, _ -> {})) {
      var _ = spawned(engines);
      WorkerId other = coordinator.expectMessageClass(Coordinator.Register.class).worker();
      servers.lost.complete("given up");
      coordinator.expectMessage(new Coordinator.Report(new Input.WorkerRetired(other)));
      servers.serves.complete(true);
      coordinator.expectNoMessage(Duration.ofMillis(50));
    }
  }

  /** An engine that depends on servers, and draws nothing. */
  private static final class Servers implements SamplingEngine {
    private final CompletableFuture<Boolean> serves = new CompletableFuture<>();
    private final CompletableFuture<String> lost = new CompletableFuture<>();
    private final CompletableFuture<Void> loading = new CompletableFuture<>();
    private final CompletableFuture<WeightVersion> loaded = new CompletableFuture<>();

    @Override
    public CompletionStage<Boolean> ready() {
      return serves;
    }

    @Override
    public CompletionStage<String> failed() {
      return lost;
    }

    @Override
    public List<CompletionStage<List<Completion>>> sample(List<SampleRequest> requests) {
      throw new AssertionError("nobody has work for it");
    }

    @Override
    public CompletionStage<WeightVersion> load(WeightSnapshot snapshot) {
      loading.complete(null);
      return loaded;
    }

    @Override
    public void cancel(LeaseId lease) {}

    @Override
    public boolean replaceable() {
      return false;
    }

    @Override
    public void close() {
      loaded.completeExceptionally(new IllegalStateException("the sampler was closed"));
    }
  }

  /** The end of a worker after a second signal, while no server has weights yet. */
  @Test
  void close_engineThatStillLoadsWeights_beginsNoWorkerAnew() {
    coordinator.expectMessage(new Coordinator.Report(new Input.DemandRaised(id, 4)));
    Servers servers = new Servers();
    EngineRegistry engines = new EngineRegistry(Toys.policy(), () -> servers, _ -> {});
    ActorRef<RolloutWorker.Command> driver = spawned(engines);
    WorkerId other = coordinator.expectMessageClass(Coordinator.Register.class).worker();
    driver.tell(published(weights()));
    servers.loading.join();
    engines.close();
    driver.tell(new RolloutWorker.Drain());
    coordinator.expectMessage(new Coordinator.Report(new Input.WorkerRetired(other)));
  }

  @Test
  void produce_judged_deliversTheScoredGroupToTheTrainer() {
    coordinator.expectMessage(new Coordinator.Report(new Input.DemandRaised(id, 4)));
    worker.tell(published(weights()));
    VerifierPool.Verify verify = produced(1);
    assertThat(verify.completions()).hasSize(2);
    List<Verdict> verdicts =
        List.of(new Verdict.Scored(0.25, "", ""), new Verdict.Scored(1, "", ""));
    verify.replyTo().tell(new RolloutWorker.Judged(Toys.lease(1, 1), verdicts));
    Trainer.Deliver deliver = trainer.expectMessageClass(Trainer.Deliver.class);
    assertThat(deliver.group().lease()).isEqualTo(Toys.lease(1, 1));
    assertThat(deliver.group().rewards()).containsExactly(0.25, 1.0);
    assertThat(deliver.weights())
        .containsExactly(new SampledWeights(WeightVersion.BASE, weights().digest()));
    assertThat(deliver.group().prompt()).isEqualTo(Toys.pool().tokens(12));
    assertThat(deliver.group().completions())
        .extracting(one -> EpisodeText.of(Toys.policy().tokenizer().decode(one.tokens())))
        .isEqualTo(verify.completions());
    recorder.expectMessageClass(Recorder.Judged.class);
  }

  @Test
  void judged_oneUnverifiable_failsTheGroupAndDeliversNothing() {
    coordinator.expectMessage(new Coordinator.Report(new Input.DemandRaised(id, 4)));
    worker.tell(published(weights()));
    produced(1);
    worker.tell(
        new RolloutWorker.Judged(
            Toys.lease(1, 1),
            List.of(
                new Verdict.Scored(1, "", ""),
                new Verdict.Unverifiable(Verdict.Cause.TIMEOUT, "too slow"))));
    coordinator.expectMessage(
        new Coordinator.Report(
            new Input.GroupFailed(Toys.lease(1, 1), new LeaseFailure.OfPrompt("too slow"))));
    trainer.expectNoMessage(Duration.ZERO);
  }

  @Test
  void produce_newerWeightsAsked_waitsForThem() {
    coordinator.expectMessage(new Coordinator.Report(new Input.DemandRaised(id, 4)));
    worker.tell(published(weights()));
    worker.tell(
        new RolloutWorker.Produce(
            new WeightVersion(1), List.of(Toys.pool().assignment(Toys.lease(1, 1), 12, 0, 0))));
    VerifierPool.Verify other = produced(1, 2);
    assertThat(other.assignment().lease()).isEqualTo(Toys.lease(2, 2));
    worker.tell(published(Toys.policy().newTrainer(1).snapshot(new WeightVersion(1))));
    coordinator.expectMessage(new Coordinator.Report(new Input.GroupSampled(Toys.lease(1, 1))));
  }

  @Test
  void published_thatCannotBeFetched_keepsTheWorkerAndWhatItHoldsUntilTheNext() {
    coordinator.expectMessage(new Coordinator.Report(new Input.DemandRaised(id, 4)));
    worker.tell(published(weights()));
    worker.tell(
        new RolloutWorker.WeightsPublished(
            new PublishedWeights(new WeightVersion(1), "lost", "memory")));
    produced(1);
    worker.tell(
        new RolloutWorker.Produce(
            new WeightVersion(2), List.of(Toys.pool().assignment(Toys.lease(2, 2), 12, 0, 0))));
    worker.tell(published(Toys.policy().newTrainer(1).snapshot(new WeightVersion(2))));
    coordinator.expectMessage(new Coordinator.Report(new Input.GroupSampled(Toys.lease(2, 2))));
  }

  @Test
  void cancel_sampledGroup_dropsIt() {
    coordinator.expectMessage(new Coordinator.Report(new Input.DemandRaised(id, 4)));
    worker.tell(published(weights()));
    produced(1);
    produced(2);
    worker.tell(new RolloutWorker.Cancel(Toys.lease(1, 1)));
    List<Verdict> verdicts = List.of(new Verdict.Scored(0, "", ""), new Verdict.Scored(1, "", ""));
    worker.tell(new RolloutWorker.Judged(Toys.lease(1, 1), verdicts));
    worker.tell(new RolloutWorker.Judged(Toys.lease(2, 2), verdicts));
    assertThat(trainer.expectMessageClass(Trainer.Deliver.class).group().lease())
        .isEqualTo(Toys.lease(2, 2));
  }

  @Test
  void cancel_groupBeingSampled_freesItsPlace() {
    coordinator.expectMessage(new Coordinator.Report(new Input.DemandRaised(id, 4)));
    // Without weights it waits for ever.
    worker.tell(
        new RolloutWorker.Produce(
            WeightVersion.BASE, List.of(Toys.pool().assignment(Toys.lease(1, 1), 12, 0, 0))));
    worker.tell(new RolloutWorker.Cancel(Toys.lease(1, 1)));
    coordinator.expectMessage(
        new Coordinator.Report(
            new Input.GroupFailed(Toys.lease(1, 1), new LeaseFailure.OfEngine("cancelled"))));
    coordinator.expectMessage(new Coordinator.Report(new Input.DemandRaised(id, 5)));
  }

  @Test
  void released_theOnlyGroupWasCancelledBeforeItsWeightsCame_stops() {
    coordinator.expectMessage(new Coordinator.Report(new Input.DemandRaised(id, 4)));
    worker.tell(
        new RolloutWorker.Produce(
            WeightVersion.BASE, List.of(Toys.pool().assignment(Toys.lease(1, 1), 12, 0, 0))));
    worker.tell(new RolloutWorker.Cancel(Toys.lease(1, 1)));
    worker.tell(new RolloutWorker.Released());
    coordinator.expectTerminated(worker);
  }

  @Test
  void published_weightsThatCannotBeLoaded_endTheWorker() {
    coordinator.expectMessage(new Coordinator.Report(new Input.DemandRaised(id, 4)));
    worker.tell(published(Toys.BROKEN));
    coordinator.expectMessage(new Coordinator.Report(new Input.WorkerLost(id)));
    coordinator.expectTerminated(worker);
  }

  @Test
  void stop_worker_saysSo() {
    coordinator.expectMessage(new Coordinator.Report(new Input.DemandRaised(id, 4)));
    actors.stop(worker);
    coordinator.expectMessage(new Coordinator.Report(new Input.WorkerLost(id)));
  }
}
