package io.troupe.engine.http.fleet;

import static io.troupe.core.Require.require;

import io.troupe.core.rollout.Completion;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.EngineUnavailableException;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.http.client.InferenceClient;
import io.troupe.engine.http.client.InferenceEndpoint;
import io.troupe.engine.http.probe.ClosingScorer;
import io.troupe.engine.http.probe.LocalPolicy;
import io.troupe.engine.http.probe.LocalScorer;
import io.troupe.engine.http.protocol.RetryPolicy;
import io.troupe.engine.http.replica.Replica;
import io.troupe.engine.http.replica.ServerWeightFolder;
import io.troupe.engine.http.replica.WeightSyncLoop;
import io.troupe.engine.protocol.WeightTag;
import io.troupe.engine.weights.WeightSnapshot;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Samples on inference servers.
 *
 * <p>Work is cut into parts, a request to a server each. A part waits until a server is ready for
 * it, so nothing is lost while all of them change weights; it is asked for again, perhaps
 * elsewhere, only as long as no token of it came back: {@link RequestDispatcher}.
 *
 * <p>A server that refuses requests is doubted, not the prompt: three failures in a row put it
 * under {@link ReplicaQuarantine}, and its parts go to others. When all are, the groups that wait
 * fail with {@link EngineUnavailableException}; those asked for next wait until a server is tried
 * again. While no server is there at all, and each has failed again and again, they fail at once.
 *
 * <p>Each server has an {@link WeightSyncLoop}, a virtual thread that brings it to the newest
 * weights and nothing else: after it joined, when new weights are there, and when its failures or
 * its words make it doubtful which weights it holds. While the attendant is at it, the server gets
 * no work: {@link FleetMaintenance}.
 *
 * <p>What both go by is in {@link FleetState}, behind its lock. Calls to servers, and callers'
 * continuations, run outside it.
 */
public final class FleetSampler implements SamplingEngine {
  private static final Logger LOG = LoggerFactory.getLogger(FleetSampler.class);

  private final LocalPolicy policy;
  private final ClosingScorer scores;
  private final ServerWeightFolder shelf;
  private final FleetState books;
  private final RequestDispatcher dispatch;
  private final FleetMaintenance upkeep;
  private final CompletableFuture<Boolean> ready = new CompletableFuture<>();
  private final CompletableFuture<String> failed = new CompletableFuture<>();

  /** Why no server is there, and none will be for a while. */
  private volatile Optional<String> absence = Optional.empty();

  /** A fleet of servers that others run, and that get merged weights. */
  public FleetSampler(
      Tokenizer tokenizer, int contextLength, ServerWeightFolder shelf, RetryPolicy retry) {
    this(
        new LocalPolicy(tokenizer, contextLength, LocalScorer.unavailable()),
        shelf,
        retry,
        ServerSupervisor.none());
  }

  /**
   * A fleet without servers, whose requests wait for one.
   *
   * @param keeper of the servers
   */
  public FleetSampler(
      LocalPolicy policy, ServerWeightFolder shelf, RetryPolicy retry, ServerSupervisor keeper) {
    this.scores = new ClosingScorer(policy.scores());
    this.policy = policy.with(scores);
    this.shelf = shelf;
    this.books = new FleetState(policy);
    this.dispatch = new RequestDispatcher(books, policy.tokenizer(), retry, keeper);
    this.upkeep = new FleetMaintenance(books, shelf, keeper, dispatch, ready);
  }

  /** A server joins under a name; it gets work once it holds the newest weights. */
  public void join(String name, InferenceEndpoint endpoint) {
    Replica replica =
        new Replica(
            name,
            new InferenceClient(endpoint),
            policy,
            upkeep.restarter(name),
            shelf.publishing());
    absence = Optional.empty();
    books.join(replica);
    LOG.info("server={} joins endpoint={}", name, endpoint);
    upkeep.begin(replica);
  }

  /** A server leaves; what it has not begun goes elsewhere. */
  public void leave(String name) {
    books
        .leave(name)
        .ifPresent(
            replica -> {
              LOG.info("server={} leaves", name);
              replica.close();
            });
  }

  /** No server is there, and none will be for a while; until one joins. */
  void absent(String why) {
    absence = Optional.of(why);
  }

  /**
   * Fails what waits for a server while none is there. Whoever waited to ask for work does so from
   * now on: only what is asked for tells the run that nobody draws.
   */
  void failAbsent() {
    Optional<String> why = absence;
    if (why.isPresent()) {
      ready.complete(false);
      fail("no inference server serves: " + why.get());
    }
  }

  /** No server is left, and none will come. */
  void noServersLeft(String why) {
    failed.complete(why);
    failDeserted(why);
  }

  private void failDeserted(String why) {
    fail("no inference server is left: " + why);
  }

  private void fail(String reason) {
    EngineUnavailableException nobody = new EngineUnavailableException(reason);
    books.openJobs().forEach(job -> dispatch.giveUp(job, nobody));
  }

  @Override
  public CompletionStage<Boolean> ready() {
    return ready.minimalCompletionStage();
  }

  @Override
  public CompletionStage<String> failed() {
    return failed.minimalCompletionStage();
  }

  /** Its servers are kept, restarted and given up by others, so another fleet has no more. */
  @Override
  public boolean replaceable() {
    return false;
  }

  /** How it fares, on a line. */
  public String report() {
    return books.report();
  }

  @Override
  public List<CompletionStage<List<Completion>>> sample(List<SampleRequest> requests) {
    requests.forEach(this::check);
    List<CompletionStage<List<Completion>>> stages = new ArrayList<>();
    for (SampleRequest request : requests) {
      GroupRequest job = new GroupRequest(request);
      if (!books.open(job)) {
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
        "lease %s: servers tell no bare log-probabilities; sample with an engine of this process",
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
      directory = shelf.put(weights);
    } catch (IOException disk) {
      return CompletableFuture.failedFuture(
          new IOException(
              "the weights %s cannot be written for servers: %s"
                  .formatted(weights.version(), disk.getMessage()),
              disk));
    }
    WeightTag tag = WeightTag.of(weights.version(), weights.digest());
    CompletableFuture<WeightVersion> loaded = new CompletableFuture<>();
    if (!books.offer(new WeightSyncLoop.TargetWeightSet(tag, directory, weights), loaded)) {
      loaded.completeExceptionally(new IllegalStateException("the sampler is closed"));
    }
    return loaded.minimalCompletionStage();
  }

  @Override
  public void cancel(LeaseId lease) {
    books
        .job(lease)
        .ifPresent(
            job -> dispatch.giveUp(job, new CancellationException(lease + " was cancelled")));
  }

  @Override
  public void close() {
    FleetState.Remainder remains = books.close();
    IllegalStateException reason = new IllegalStateException("the sampler was closed");
    remains.jobs().forEach(job -> dispatch.giveUp(job, reason));
    remains.unloaded().forEach(load -> load.completeExceptionally(reason));
    remains.servers().forEach(this::leave);
    dispatch.close();
    scores.close();
  }
}
