package io.troupe.run.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import akka.actor.typed.ActorSystem;
import akka.actor.typed.javadsl.Behaviors;
import com.typesafe.config.ConfigFactory;
import io.troupe.base.net.HostPort;
import io.troupe.cluster.ClusterJoin;
import io.troupe.cluster.ClusterSettings;
import io.troupe.cluster.JoinGate;
import io.troupe.cluster.membership.ClusterIdentity;
import io.troupe.cluster.membership.SeedNodes;
import io.troupe.cluster.membership.SystemAddress;
import io.troupe.core.completion.Completion;
import io.troupe.core.evaluation.EvaluationChunks;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.toy.ToyPolicy;
import io.troupe.engine.toy.ToySettings;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.runtime.EngineRegistry;
import io.troupe.runtime.evaluation.EvaluatedWeights;
import io.troupe.runtime.evaluation.EvaluationSampler;
import io.troupe.runtime.evaluation.SamplerState;
import io.troupe.runtime.weights.PublishedWeights;
import io.troupe.testkit.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Workers that are members of a cluster over loopback, each with an actor system of its own. */
class ClusterSamplerTest {
  private static final Duration PATIENCE = Duration.ofMinutes(2);
  private static final ClusterIdentity IDENTITY = new ClusterIdentity("c", "b");
  private static final ToySettings TOY = ToySettings.of("+0123=", 8);
  private static final WeightSnapshot WEIGHTS =
      new ToyPolicy(TOY).newTrainer(1).snapshot(new WeightVersion(7));

  private static ClusterSettings settings(ClusterSettings.ClusterRole role) {
    return new ClusterSettings(
        new HostPort("127.0.0.1", 0),
        Set.of(role),
        ClusterSettings.MIN_FRAME_BYTES,
        ConfigFactory.parseString("troupe.transport-cutoff-patience = 100ms"),
        true);
  }

  /** A process with a worker, as far as an evaluation knows it. */
  private static final class Worker implements AutoCloseable {
    private final EngineRegistry room;
    private final ActorSystem<Void> system;
    private final CompletableFuture<EvaluatedWeights> asked = new CompletableFuture<>();

    /**
     * A worker that is in no cluster.
     *
     * @param begin completes when it may have the weights
     */
    Worker(ToySettings toy, CompletionStage<?> begin) {
      this.room = new EngineRegistry(new ToyPolicy(toy));
      this.system =
          ActorSystem.create(
              Behaviors.setup(
                  context -> {
                    context.spawn(JoinGate.create(IDENTITY), JoinGate.NAME);
                    context.spawn(
                        EvaluationSampler.create(
                            new EvaluationSampler.Wiring(
                                new SamplerState.Terms("w", "r", Optional.empty()),
                                room,
                                wanted -> {
                                  asked.complete(wanted);
                                  return begin.thenApply(_ -> WEIGHTS);
                                })),
                        EvaluationSampler.NAME);
                    return Behaviors.empty();
                  }),
              ClusterSettings.SYSTEM_NAME,
              settings(ClusterSettings.ClusterRole.NODE).config());
    }

    HostPort address() {
      return SystemAddress.address(system);
    }

    /** Leaves the cluster, and answers no more. */
    void leave() {
      system.terminate();
      system
          .getWhenTerminated()
          .toCompletableFuture()
          .orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS)
          .join();
    }

    @Override
    public void close() {
      leave();
      room.close();
    }
  }

  private static List<SampleRequest> chunk(int first) {
    List<SampleRequest> requests = new ArrayList<>();
    for (int i = first; i < first + 3; i++) {
      requests.add(
          new SampleRequest(
              new LeaseId(new GroupId(i + 1), 1),
              new ToyPolicy(TOY).tokenizer().encodeWithSpecial(i % 4 + "+1="),
              4,
              new SamplingSettings(1, 3),
              90 + i));
    }
    return requests;
  }

  private static List<int[]> tokens(List<CompletionStage<List<Completion>>> stages) {
    return stages.stream()
        .map(
            stage ->
                stage
                    .toCompletableFuture()
                    .orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS)
                    .join())
        .flatMap(List::stream)
        .map(Completion::tokens)
        .toList();
  }

  private static List<int[]> alone(int first) {
    try (SamplingEngine engine = new ToyPolicy(TOY).newSampler()) {
      engine.load(WEIGHTS).toCompletableFuture().join();
      return tokens(engine.sample(chunk(first)));
    }
  }

  private static EvaluatedWeights evaluated(String run) {
    return new EvaluatedWeights(
        run, new PublishedWeights(WEIGHTS.version(), WEIGHTS.digest(), "/there"));
  }

  private static ClusterSampler join(Worker worker, String run, LinkedBlockingQueue<String> said)
      throws Exception {
    return ClusterSampler.join(
        settings(ClusterSettings.ClusterRole.EVALUATION),
        List.of(worker.address()),
        IDENTITY,
        evaluated(run),
        EvaluationChunks.Limits.DEFAULT,
        said::add);
  }

  private static CompletionStage<?> atOnce() {
    return CompletableFuture.completedStage("at once");
  }

  /**
   * One worker never answers, and leaves with its chunk undone. The other one begins only once that
   * chunk is at the first.
   */
  @Test
  void sample_workerLeavesInTheMiddle_givesWhatOneEngineGives() throws Exception {
    LinkedBlockingQueue<String> said = new LinkedBlockingQueue<>();
    try (Worker hanging = new Worker(TOY.withTokenDelay(Duration.ofHours(1)), atOnce());
        Worker steady = new Worker(TOY, hanging.asked)) {
      ClusterJoin.form(steady.system);
      ClusterJoin.joinVia(
          hanging.system, SeedNodes.given(List.of(steady.address())), IDENTITY, "w", PATIENCE);
      try (ClusterSampler sampler = join(steady, "r", said)) {
        Await.until("both workers are known", () -> sampler.chunksAtOnce() == 4);
        List<List<CompletionStage<List<Completion>>>> chunks =
            Stream.of(0, 3, 6).map(first -> sampler.sample(chunk(first))).toList();
        EvaluatedWeights asked = hanging.asked.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        assertThat(asked).isEqualTo(evaluated("r"));
        hanging.leave();

        for (int i = 0; i < chunks.size(); i++) {
          assertThat(tokens(chunks.get(i)))
              .usingElementComparator(Arrays::compare)
              .isEqualTo(alone(3 * i));
        }
        assertThat(said).contains("the rollout worker at %s is gone".formatted(hanging.address()));
      }
    }
  }

  @Test
  void sample_workersOfAnotherRun_failsWithTheWayOut() throws Exception {
    try (Worker worker = new Worker(TOY, atOnce())) {
      ClusterJoin.form(worker.system);
      try (ClusterSampler sampler = join(worker, "other", new LinkedBlockingQueue<>())) {
        assertThatThrownBy(() -> tokens(sampler.sample(chunk(0))))
            .hasMessageContaining("worker w works for run r, and not for other")
            .hasMessageContaining("leave out --cluster");
      }
    }
  }
}
