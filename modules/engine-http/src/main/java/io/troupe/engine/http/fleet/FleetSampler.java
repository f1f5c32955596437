package io.troupe.engine.http.fleet;

import static io.troupe.core.Require.require;

import io.troupe.core.completion.Completion;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.EngineUnavailableException;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.http.broadcast.WeightBroadcaster;
import io.troupe.engine.http.client.InferenceClient;
import io.troupe.engine.http.client.InferenceEndpoint;
import io.troupe.engine.http.probe.ClosingScorer;
import io.troupe.engine.http.probe.LocalPolicy;
import io.troupe.engine.http.probe.LocalScorer;
import io.troupe.engine.http.protocol.RetryPolicy;
import io.troupe.engine.http.replica.Replica;
import io.troupe.engine.http.replica.ServerWeightFolder;
import io.troupe.engine.http.replica.WeightComparisons;
import io.troupe.engine.http.replica.WeightSyncLoop;
import io.troupe.engine.protocol.WeightTag;
import io.troupe.engine.weights.WeightSnapshot;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Samples on inference servers.
 *
 * <p>A group is split into parts; each part is one request to one replica. A part waits until a
 * replica is ready for it, so nothing is lost while all replicas change weights. A part is
 * requested again, perhaps from another replica, only while none of its tokens has arrived: {@link
 * RequestDispatcher}.
 *
 * <p>When a replica refuses requests, the replica is suspected and not the prompt: three failures
 * in a row open its circuit breaker, {@link ReplicaQuarantine}, and its parts go to other replicas.
 * When the breakers of all replicas are open, the waiting groups fail with {@link
 * EngineUnavailableException}; later groups wait until a replica is tried again. While there is no
 * replica at all, and each server has failed repeatedly, groups fail immediately.
 *
 * <p>Each replica has a {@link WeightSyncLoop}, a virtual thread that only brings the replica to
 * the newest weights: after it joined, when there are new weights, and when its failures or its
 * answers make its weights uncertain. A replica gets no work during an update: {@link
 * FleetMaintenance}.
 *
 * <p>{@link FleetState} holds the state that all of them share, behind its lock. Calls to servers
 * and callers' continuations run outside the lock.
 */
public final class FleetSampler implements SamplingEngine {
  private static final Logger LOG = LoggerFactory.getLogger(FleetSampler.class);

  private final LocalPolicy policy;
  private final ClosingScorer scores;
  private final ServerWeightFolder weightFolder;
  private final Optional<WeightBroadcaster> broadcaster;
  private final FleetState state;
  private final RequestDispatcher dispatch;
  private final FleetMaintenance maintenance;

  /** By the name of the server, which leaves and joins again when it is restarted. */
  private final Map<String, WeightComparisons> comparisons = new ConcurrentHashMap<>();

  private final CompletableFuture<Boolean> ready = new CompletableFuture<>();
  private final CompletableFuture<String> failed = new CompletableFuture<>();

  /** The reason why there is no replica, and will be none for a while. */
  private volatile Optional<String> absence = Optional.empty();

  /** A fleet of servers that run independently and receive merged weights. */
  public FleetSampler(
      Tokenizer tokenizer, int contextLength, ServerWeightFolder weightFolder, RetryPolicy retry) {
    this(
        new LocalPolicy(tokenizer, contextLength, LocalScorer.unavailable()),
        weightFolder,
        retry,
        ServerSupervisor.none());
  }

  /**
   * A fleet without replicas; its requests wait for one.
   *
   * @param supervisor the supervisor of the servers
   */
  public FleetSampler(
      LocalPolicy policy,
      ServerWeightFolder weightFolder,
      RetryPolicy retry,
      ServerSupervisor supervisor) {
    this(policy, weightFolder, retry, supervisor, Optional.empty());
  }

  /**
   * A fleet without replicas, whose servers may receive weights by NCCL.
   *
   * @param broadcaster sends the weights; empty where servers read files
   */
  public FleetSampler(
      LocalPolicy policy,
      ServerWeightFolder weightFolder,
      RetryPolicy retry,
      ServerSupervisor supervisor,
      Optional<WeightBroadcaster> broadcaster) {
    this.broadcaster = broadcaster;
    this.scores = new ClosingScorer(policy.scores());
    this.policy = policy.with(scores);
    this.weightFolder = weightFolder;
    this.state = new FleetState(policy);
    this.dispatch = new RequestDispatcher(state, policy.tokenizer(), retry, supervisor);
    this.maintenance = new FleetMaintenance(state, weightFolder, supervisor, dispatch, ready);
  }

  /** Adds a replica under a name; it gets work once it holds the newest weights. */
  public void join(String name, InferenceEndpoint endpoint) {
    InferenceClient wire = new InferenceClient(endpoint);
    Replica replica =
        new Replica(
            name,
            wire,
            policy,
            comparisons.computeIfAbsent(name, _ -> new WeightComparisons(policy.tolerance())),
            maintenance.restarter(name),
            weightFolder.publishing(),
            broadcaster.map(sender -> sender.to(wire)));
    absence = Optional.empty();
    state.join(replica);
    LOG.info("server={} joins endpoint={}", name, endpoint);
    maintenance.begin(replica);
  }

  /** Removes a replica; its requests without a token go to other replicas. */
  public void leave(String name) {
    state
        .leave(name)
        .ifPresent(
            replica -> {
              LOG.info("server={} leaves", name);
              replica.close();
            });
  }

  /** Records that there is no replica, and will be none until one joins. */
  void absent(String why) {
    absence = Optional.of(why);
  }

  /**
   * Fails the groups that wait while there is no replica. Callers that waited to request work do so
   * from now on: only a request can show the run that no replica samples.
   */
  void failAbsent() {
    Optional<String> why = absence;
    if (why.isPresent()) {
      ready.complete(false);
      fail("no inference server serves: " + why.get());
    }
  }

  /** Records that no replica is left, and none will join. */
  void noServersLeft(String why) {
    failed.complete(why);
    failDeserted(why);
  }

  private void failDeserted(String why) {
    fail("no inference server is left: " + why);
  }

  private void fail(String reason) {
    EngineUnavailableException nobody = new EngineUnavailableException(reason);
    state.openJobs().forEach(job -> dispatch.giveUp(job, nobody));
  }

  @Override
  public CompletionStage<Boolean> ready() {
    return ready.minimalCompletionStage();
  }

  @Override
  public CompletionStage<String> failed() {
    return failed.minimalCompletionStage();
  }

  /**
   * Whether a new fleet would have more replicas: false, because the servers are supervised,
   * restarted and given up outside the fleet.
   */
  @Override
  public boolean replaceable() {
    return false;
  }

  /** The state of the fleet, on one line. */
  public String report() {
    return state.report();
  }

  @Override
  public List<CompletionStage<List<Completion>>> sample(List<SampleRequest> requests) {
    requests.forEach(this::check);
    List<CompletionStage<List<Completion>>> stages = new ArrayList<>();
    for (SampleRequest request : requests) {
      GroupRequest job = new GroupRequest(request);
      if (!state.open(job)) {
        job.answer().completeExceptionally(new IllegalStateException("the sampler is closed"));
      }
      stages.add(job.answer().minimalCompletionStage());
    }
    if (failed.isDone()) {
      failDeserted(failed.join());
    }
    failAbsent();
    dispatch.assign();
    return stages;
  }

  private void check(SampleRequest request) {
    require(
        !request.settings().rawLogProbs(),
        "lease %s: servers report no bare log-probabilities; sample with an engine of this process",
        request.lease());
    require(
        request.prompt().length < policy.contextLength(),
        "lease %s: a prompt of %d tokens leaves no room in a context of %d; raise"
            + " policy.context_length or shorten the prompt",
        request.lease(),
        request.prompt().length,
        policy.contextLength());
  }

  @Override
  public CompletionStage<WeightVersion> load(WeightSnapshot weights) {
    Path directory;
    try {
      directory = weightFolder.put(weights);
    } catch (IOException disk) {
      return CompletableFuture.failedFuture(
          new IOException(
              "the weights %s cannot be written for servers: %s"
                  .formatted(weights.version(), disk.getMessage()),
              disk));
    }
    WeightTag tag = WeightTag.of(weights.version(), weights.digest());
    CompletableFuture<WeightVersion> loaded = new CompletableFuture<>();
    if (!state.offer(new WeightSyncLoop.TargetWeightSet(tag, directory, weights), loaded)) {
      loaded.completeExceptionally(new IllegalStateException("the sampler is closed"));
    }
    return loaded.minimalCompletionStage();
  }

  @Override
  public void cancel(LeaseId lease) {
    state
        .job(lease)
        .ifPresent(
            job -> dispatch.giveUp(job, new CancellationException(lease + " was cancelled")));
  }

  @Override
  public void close() {
    FleetState.Remainder remains = state.close();
    IllegalStateException reason = new IllegalStateException("the sampler was closed");
    remains.jobs().forEach(job -> dispatch.giveUp(job, reason));
    remains.unloaded().forEach(load -> load.completeExceptionally(reason));
    remains.servers().forEach(this::leave);
    dispatch.close();
    scores.close();
  }
}
