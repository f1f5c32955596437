package io.troupe.engine.http;

import static io.troupe.core.Require.require;

import io.troupe.core.rollout.Completion;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.EngineUnavailableException;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.WeightSnapshot;
import io.troupe.engine.http.protocol.Retry;
import io.troupe.engine.http.protocol.WeightTag;
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
 * elsewhere, only as long as no token of it came back: {@link Dispatch}.
 *
 * <p>A server that refuses requests is doubted, not the prompt: three failures in a row put it
 * under {@link Quarantine}, and its parts go to others. When all are, the groups that wait fail
 * with {@link EngineUnavailableException}; those asked for next wait until a server is tried again.
 * While no server is there at all, and each has failed again and again, they fail at once.
 *
 * <p>Each server has an {@link Attendant}, a virtual thread that brings it to the newest weights
 * and nothing else: after it joined, when new weights are there, and when its failures or its words
 * make it doubtful which weights it holds. While the attendant is at it, the server gets no work:
 * {@link Upkeep}.
 *
 * <p>What both go by is in {@link FleetBooks}, behind its lock. Calls to servers, and callers'
 * continuations, run outside it.
 */
public final class FleetSampler implements SamplingEngine {
  private static final Logger LOG = LoggerFactory.getLogger(FleetSampler.class);

  private final OwnPolicy policy;
  private final UntilClosed scores;
  private final WeightShelf shelf;
  private final FleetBooks books;
  private final Dispatch dispatch;
  private final Upkeep upkeep;
  private final CompletableFuture<Boolean> serves = new CompletableFuture<>();
  private final CompletableFuture<String> lost = new CompletableFuture<>();

  /** Why no server is there, and none will be for a while. */
  private volatile Optional<String> absence = Optional.empty();

  /** A fleet of servers that others run, and that get merged weights. */
  public FleetSampler(Tokenizer tokenizer, int contextLength, WeightShelf shelf, Retry retry) {
    this(
        new OwnPolicy(tokenizer, contextLength, OwnScores.notAsked()),
        shelf,
        retry,
        Keeper.nobody());
  }

  /**
   * A fleet without servers, whose requests wait for one.
   *
   * @param keeper of the servers
   */
  public FleetSampler(OwnPolicy policy, WeightShelf shelf, Retry retry, Keeper keeper) {
    this.scores = new UntilClosed(policy.scores());
    this.policy = policy.with(scores);
    this.shelf = shelf;
    this.books = new FleetBooks(policy);
    this.dispatch = new Dispatch(books, policy.tokenizer(), retry, keeper);
    this.upkeep = new Upkeep(books, shelf, keeper, dispatch, serves);
  }

  /** A server joins under a name; it gets work once it holds the newest weights. */
  public void join(String name, Endpoint endpoint) {
    Replica replica =
        new Replica(name, new Wire(endpoint), policy, upkeep.restarter(name), shelf.publishing());
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
      serves.complete(false);
      fail("no inference server serves: " + why.get());
    }
  }

  /** No server is left, and none will come. */
  void desert(String why) {
    lost.complete(why);
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
  public CompletionStage<Boolean> serves() {
    return serves.minimalCompletionStage();
  }

  @Override
  public CompletionStage<String> lost() {
    return lost.minimalCompletionStage();
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
      GroupJob job = new GroupJob(request);
      if (!books.open(job)) {
        job.answer().completeExceptionally(new IllegalStateException("the sampler is closed"));
      }
      stages.add(job.answer().minimalCompletionStage());
    }
    if (lost.isDone()) {
      failDeserted(lost.join());
    }
    failAbsent();
    dispatch.give();
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
    if (!books.offer(new Attendant.Goal(tag, directory, weights), loaded)) {
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
    FleetBooks.Remains remains = books.close();
    IllegalStateException reason = new IllegalStateException("the sampler was closed");
    remains.jobs().forEach(job -> dispatch.giveUp(job, reason));
    remains.unloaded().forEach(load -> load.completeExceptionally(reason));
    remains.servers().forEach(this::leave);
    dispatch.close();
    scores.close();
  }
}
