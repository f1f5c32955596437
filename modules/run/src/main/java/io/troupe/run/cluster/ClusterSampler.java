package io.troupe.run.cluster;

import akka.actor.typed.ActorSystem;
import akka.actor.typed.Behavior;
import akka.actor.typed.Terminated;
import akka.actor.typed.javadsl.Behaviors;
import io.troupe.base.net.HostPort;
import io.troupe.cluster.ClusterJoin;
import io.troupe.cluster.ClusterJoin.ClusterJoinException;
import io.troupe.cluster.ClusterSettings;
import io.troupe.cluster.evaluation.EvaluationClient;
import io.troupe.cluster.evaluation.PendingChunk;
import io.troupe.cluster.membership.ClusterIdentity;
import io.troupe.cluster.membership.SeedNodes;
import io.troupe.cluster.membership.SystemAddress;
import io.troupe.core.completion.Completion;
import io.troupe.core.evaluation.EvaluationChunks;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.runtime.evaluation.EvaluatedWeights;
import io.troupe.runtime.evaluation.EvaluationRequest;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * The rollout workers of a cluster as one engine for an evaluation: each call of {@link #sample} is
 * a chunk, which one worker samples on an idle engine of its own with exactly the weights of the
 * evaluation. This process is a member of the cluster until it is closed.
 */
public final class ClusterSampler implements SamplingEngine {
  /** Chunks that a worker has at a time: while one is sampled, the next one waits. */
  private static final int CHUNKS_PER_WORKER = 2;

  private static final Duration JOIN_PATIENCE = Duration.ofSeconds(60);
  private static final Duration FIRST_WORKER = Duration.ofSeconds(10);
  private static final Duration LEAVING = Duration.ofSeconds(10);

  private final ActorSystem<EvaluationClient.Command> system;
  private final AtomicInteger workers;
  private final AtomicBoolean leaving;
  private final Set<PendingChunk> open = ConcurrentHashMap.newKeySet();

  private ClusterSampler(
      ActorSystem<EvaluationClient.Command> system, AtomicInteger workers, AtomicBoolean leaving) {
    this.system = system;
    this.workers = workers;
    this.leaving = leaving;
    var _ =
        system
            .getWhenTerminated()
            .thenRun(
                () ->
                    open.forEach(chunk -> chunk.fail(new IOException(EvaluationClient.NO_MEMBER))));
  }

  /**
   * Joins a cluster, and waits some seconds for its first worker.
   *
   * @param say takes sentences about workers
   * @throws ClusterJoinException if the cluster cannot be joined
   */
  public static ClusterSampler join(
      ClusterSettings settings,
      List<HostPort> seeds,
      ClusterIdentity identity,
      EvaluatedWeights weights,
      EvaluationChunks.Limits limits,
      Consumer<String> say)
      throws ClusterJoinException, InterruptedException {
    AtomicInteger workers = new AtomicInteger();
    AtomicBoolean leaving = new AtomicBoolean();
    CompletableFuture<Integer> first = new CompletableFuture<>();
    ActorSystem<EvaluationClient.Command> system =
        ActorSystem.create(
            guardian(
                EvaluationClient.create(
                    weights,
                    limits,
                    number -> {
                      workers.set(number);
                      if (number > 0) {
                        first.complete(number);
                      }
                    },
                    sentence -> {
                      if (!leaving.get()) { // A member that leaves sees the others go.
                        say.accept(sentence);
                      }
                    })),
            ClusterSettings.SYSTEM_NAME,
            settings.config());
    ClusterSampler joined = new ClusterSampler(system, workers, leaving);
    try {
      ClusterJoin.joinVia(
          system,
          SeedNodes.given(seeds),
          identity,
          "an evaluation at " + SystemAddress.address(system),
          JOIN_PATIENCE);
      awaitWorker(first, limits, say);
    } catch (ClusterJoinException | InterruptedException | RuntimeException failure) {
      joined.close();
      throw failure;
    }
    return joined;
  }

  private static Behavior<EvaluationClient.Command> guardian(
      Behavior<EvaluationClient.Command> behavior) {
    return Behaviors.setup(
        context -> {
          var client = context.spawn(behavior, EvaluationClient.NAME);
          context.watch(client);
          return Behaviors.receive(EvaluationClient.Command.class)
              .onAnyMessage(
                  command -> {
                    client.tell(command);
                    return Behaviors.same();
                  })
              .onSignal(Terminated.class, _ -> Behaviors.stopped())
              .build();
        });
  }

  private static void awaitWorker(
      CompletableFuture<Integer> first, EvaluationChunks.Limits limits, Consumer<String> say)
      throws InterruptedException {
    try {
      first.get(FIRST_WORKER.toSeconds(), TimeUnit.SECONDS);
    } catch (TimeoutException none) {
      say.accept(
          "no rollout worker is in the cluster; the evaluation waits %d s for one"
              .formatted(limits.absenceMillis() / 1_000));
    } catch (ExecutionException never) {
      throw new IllegalStateException(never);
    }
  }

  /** Returns the number of chunks that the sampler takes at a time at present. */
  public int chunksAtOnce() {
    return Math.max(1, CHUNKS_PER_WORKER * workers.get());
  }

  @Override
  public List<CompletionStage<List<Completion>>> sample(List<SampleRequest> requests) {
    PendingChunk chunk = new PendingChunk(requests.stream().map(EvaluationRequest::of).toList());
    open.add(chunk);
    system.tell(new EvaluationClient.SampleChunk(chunk));
    List<CompletionStage<List<Completion>>> answers = chunk.answers();
    if (!answers.isEmpty()) {
      var _ = answers.getLast().whenComplete((_, _) -> open.remove(chunk));
    }
    return answers;
  }

  /** The workers read the weights of the evaluation themselves. */
  @Override
  public CompletionStage<WeightVersion> load(WeightSnapshot weights) {
    throw new UnsupportedOperationException(
        "workers of a cluster load the weights they are asked for");
  }

  @Override
  public void cancel(LeaseId lease) {
    // A chunk is cancelled as a whole, when this is closed.
  }

  @Override
  public void close() {
    leaving.set(true);
    system.terminate();
    try {
      system.getWhenTerminated().toCompletableFuture().get(LEAVING.toSeconds(), TimeUnit.SECONDS);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    } catch (TimeoutException | ExecutionException late) {
      // The process ends; the cluster removes it.
    }
  }
}
