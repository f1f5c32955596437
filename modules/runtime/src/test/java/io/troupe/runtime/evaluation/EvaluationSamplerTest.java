package io.troupe.runtime.evaluation;

import static org.assertj.core.api.Assertions.assertThat;

import akka.actor.testkit.typed.javadsl.ActorTestKit;
import akka.actor.testkit.typed.javadsl.TestProbe;
import akka.actor.typed.ActorRef;
import io.troupe.core.completion.Completion;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.runtime.EngineRegistry;
import io.troupe.runtime.OtherSamplers;
import io.troupe.runtime.Sampler;
import io.troupe.runtime.prompt.Toys;
import io.troupe.runtime.weights.PublishedWeights;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

class EvaluationSamplerTest {
  private static final Duration LONG = Duration.ofMinutes(10);

  @AutoClose("shutdownTestKit")
  private final ActorTestKit actors = Toys.actors();

  private final BlockingQueue<Sampler> made = new LinkedBlockingQueue<>();
  private final TestProbe<EvaluationReply> client = actors.createTestProbe();

  private static WeightSnapshot weights(long version) {
    WeightSnapshot first = Toys.policy().newTrainer(version).snapshot(new WeightVersion(version));
    return new WeightSnapshot(first.version(), "digest-" + version, first.tensors());
  }

  private static EvaluatedWeights evaluated(long version) {
    return new EvaluatedWeights(
        "r", new PublishedWeights(new WeightVersion(version), "digest-" + version, "there"));
  }

  private ActorRef<EvaluationSampler.Command> sampler(
      EvaluationWeightSource source, Optional<String> refusal) {
    return sampler(source, refusal, Sampler::new, LONG);
  }

  private ActorRef<EvaluationSampler.Command> sampler(
      EvaluationWeightSource source,
      Optional<String> refusal,
      Supplier<Sampler> engines,
      Duration idle) {
    EngineRegistry room =
        new EngineRegistry(
            new OtherSamplers(
                () -> {
                  Sampler engine = engines.get();
                  made.add(engine);
                  return engine;
                }));
    return actors.spawn(
        EvaluationSampler.create(
            new EvaluationSampler.Wiring(
                new SamplerState.Terms("a-w1", "r", refusal, LONG, idle), room, source)));
  }

  private static EvaluationWeightSource checkpoints() {
    return wanted ->
        CompletableFuture.completedFuture(weights(wanted.weights().version().number()));
  }

  private static List<EvaluationRequest> requests(int count) {
    List<EvaluationRequest> requests = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int[] prompt = Toys.policy().tokenizer().encodeWithSpecial(Toys.prompts().get(i).text());
      requests.add(new EvaluationRequest(prompt, 2, new SamplingSettings(1, 3), 40 + i));
    }
    return requests;
  }

  private EvaluationSampler.Sample ask(long number, long version, int count) {
    return new EvaluationSampler.Sample(
        number, evaluated(version), 0, count, requests(count), client.getRef());
  }

  private <T extends EvaluationReply> T expect(Class<T> type) {
    EvaluationReply reply = client.receiveMessage();
    while (reply instanceof EvaluationReply.Working) {
      reply = client.receiveMessage();
    }
    return type.cast(reply);
  }

  private Sampler engine() throws InterruptedException {
    return Optional.ofNullable(made.poll(60, TimeUnit.SECONDS)).orElseThrow();
  }

  /** Returns the samples of an engine with these weights by itself. */
  private static List<List<int[]>> alone(long version, int count) {
    try (SamplingEngine engine = Toys.policy().newSampler()) {
      engine.load(weights(version)).toCompletableFuture().join();
      List<SampleRequest> requests = new ArrayList<>();
      for (EvaluationRequest request : requests(count)) {
        requests.add(request.under(new LeaseId(new GroupId(1_000 + requests.size()), 1)));
      }
      return engine.sample(requests).stream()
          .map(stage -> stage.toCompletableFuture().join())
          .map(all -> all.stream().map(Completion::tokens).toList())
          .toList();
    }
  }

  private void expectChunk(long number, long version, int count) {
    List<List<int[]>> wanted = alone(version, count);
    for (int i = 0; i < count; i++) {
      EvaluationReply.Sampled sampled = expect(EvaluationReply.Sampled.class);
      assertThat(sampled.number()).isEqualTo(number);
      assertThat(sampled.digest()).isEqualTo("digest-" + version);
      assertThat(evaluated(version).objection(sampled.digest(), sampled.completions())).isEmpty();
      assertThat(sampled.completions().stream().map(Completion::tokens).toList())
          .usingElementComparator((one, other) -> Arrays.compare(one, other))
          .isEqualTo(wanted.get(sampled.request()));
    }
  }

  @Test
  void sample_olderAndNewerVersions_eachIsSampledWithItsOwnWeightsByAnEngineOfItsOwn()
      throws Exception {
    ActorRef<EvaluationSampler.Command> sampler = sampler(checkpoints(), Optional.empty());

    sampler.tell(ask(1, 7, 3));
    expectChunk(1, 7, 3);
    sampler.tell(ask(2, 7, 2));
    expectChunk(2, 7, 2);
    Sampler first = engine();
    assertThat(made).as("one engine for one version").isEmpty();
    sampler.tell(ask(3, 4, 3));
    expectChunk(3, 4, 3);
    first.closed().get(60, TimeUnit.SECONDS);
  }

  @Test
  void sample_chunkInSeveralMessages_beginsWithTheLast() {
    ActorRef<EvaluationSampler.Command> sampler = sampler(checkpoints(), Optional.empty());
    List<EvaluationRequest> all = requests(3);

    sampler.tell(
        new EvaluationSampler.Sample(1, evaluated(2), 0, 3, all.subList(0, 2), client.getRef()));
    sampler.tell(
        new EvaluationSampler.Sample(1, evaluated(2), 2, 3, all.subList(2, 3), client.getRef()));

    expectChunk(1, 2, 3);
  }

  @Test
  void sample_anotherAsksMeanwhile_isBusyUntilTheFirstIsGone() throws Exception {
    ActorRef<EvaluationSampler.Command> sampler =
        sampler(checkpoints(), Optional.empty(), Silent::new, LONG);
    TestProbe<EvaluationReply> other = actors.createTestProbe();
    sampler.tell(new EvaluationSampler.Sample(9, evaluated(2), 0, 1, requests(1), other.getRef()));
    other.expectMessageClass(EvaluationReply.Working.class);

    sampler.tell(ask(1, 2, 1));
    assertThat(expect(EvaluationReply.Busy.class).number()).isEqualTo(1);
    other.stop();
    Silent engine = (Silent) engine();
    engine.cancelled.get(60, TimeUnit.SECONDS);
    sampler.tell(ask(2, 2, 1));
    assertThat(client.expectMessageClass(EvaluationReply.Working.class).number()).isEqualTo(2);
  }

  @Test
  void sample_engineIsLost_failsAndTheNextChunkGetsAnotherEngine() throws Exception {
    ActorRef<EvaluationSampler.Command> sampler =
        sampler(checkpoints(), Optional.empty(), Silent::new, LONG);
    sampler.tell(ask(1, 2, 1));
    client.expectMessageClass(EvaluationReply.Working.class);
    engine().lose("a bus error");

    assertThat(expect(EvaluationReply.Failed.class).reason())
        .isEqualTo("the engine of worker a-w1 failed: a bus error");
    sampler.tell(ask(2, 2, 1));
    engine();
  }

  @Test
  void sample_weightsThatDoNotFitTheEngine_isRefused() {
    ActorRef<EvaluationSampler.Command> sampler =
        sampler(wanted -> CompletableFuture.completedFuture(Toys.BROKEN), Optional.empty());
    sampler.tell(ask(1, 2, 1));

    assertThat(expect(EvaluationReply.Refused.class).reason())
        .startsWith("worker a-w1 cannot load the weights: ");
  }

  @Test
  void sample_weightsThatAreNotThere_isRefusedWithTheReason() {
    ActorRef<EvaluationSampler.Command> sampler =
        sampler(
            _ -> CompletableFuture.failedFuture(new UnfitWeightsException("no such folder")),
            Optional.empty());
    sampler.tell(ask(1, 2, 1));

    assertThat(expect(EvaluationReply.Refused.class).reason())
        .isEqualTo("worker a-w1 has not got the weights: no such folder");
  }

  @Test
  void sample_weightsThatCannotBeReadNow_fails() {
    ActorRef<EvaluationSampler.Command> sampler =
        sampler(
            _ -> CompletableFuture.failedFuture(new IOException("the disk is away")),
            Optional.empty());
    sampler.tell(ask(1, 2, 1));

    assertThat(expect(EvaluationReply.Failed.class).reason())
        .isEqualTo("worker a-w1 has not got the weights: the disk is away");
  }

  @Test
  void sample_workerWithAServerOrOfAnotherRun_isRefused() {
    sampler(checkpoints(), Optional.of("a server follows the run")).tell(ask(1, 2, 1));
    assertThat(expect(EvaluationReply.Refused.class).reason())
        .isEqualTo("a server follows the run");
    sampler(checkpoints(), Optional.empty())
        .tell(
            new EvaluationSampler.Sample(
                2,
                new EvaluatedWeights("other", evaluated(2).weights()),
                0,
                1,
                requests(1),
                client.getRef()));
    assertThat(expect(EvaluationReply.Refused.class).reason())
        .isEqualTo("worker a-w1 works for run r, and not for other");
  }

  @Test
  void engine_withoutAChunkForAWhile_isClosed() throws Exception {
    ActorRef<EvaluationSampler.Command> sampler =
        sampler(checkpoints(), Optional.empty(), Sampler::new, Duration.ofMillis(20));
    sampler.tell(ask(1, 2, 1));
    expectChunk(1, 2, 1);
    engine().closed().get(60, TimeUnit.SECONDS);
  }

  /** An engine that never answers. */
  private static final class Silent extends Sampler {
    private final CompletableFuture<LeaseId> cancelled = new CompletableFuture<>();

    @Override
    public List<CompletionStage<List<Completion>>> sample(List<SampleRequest> requests) {
      return silence(requests);
    }

    @Override
    public void cancel(LeaseId lease) {
      cancelled.complete(lease);
    }
  }
}
