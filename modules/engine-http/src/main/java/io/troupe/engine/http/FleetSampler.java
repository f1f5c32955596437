package io.troupe.engine.http;

import static io.troupe.core.Require.require;

import io.troupe.core.rollout.Completion;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.WeightSnapshot;
import io.troupe.engine.http.protocol.Checked;
import io.troupe.engine.http.protocol.Drawn;
import io.troupe.engine.http.protocol.Retry;
import io.troupe.engine.http.protocol.WeightTag;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Samples on inference servers.
 *
 * <p>Work is cut into parts, a request to a server each. A part waits here until a server is ready
 * for it, so nothing is lost while all of them change weights; it is asked for again, perhaps
 * elsewhere, only as long as no token of it came back. A group is answered when its parts are, and
 * fails with the first of them.
 *
 * <p>Each server has an {@link Attendant}, a virtual thread that brings it to the newest weights
 * and nothing else: after it joined, when new weights are there, and when its failures or its words
 * make it doubtful which weights it holds. While the attendant is at it, the server gets no work.
 *
 * <p>The lock is this object's monitor. Calls to servers, and callers' continuations, run outside
 * it.
 */
public final class FleetSampler implements SamplingEngine {
  private static final Logger LOG = LoggerFactory.getLogger(FleetSampler.class);

  private final Tokenizer tokenizer;
  private final int contextLength;
  private final WeightShelf shelf;
  private final Retry retry;
  private final Keeper keeper;
  private final ScheduledExecutorService clock =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().name("fleet-clock").daemon().factory());

  // Guarded by this.
  private Fleet fleet = Fleet.EMPTY;
  private final Map<String, Replica> replicas = new HashMap<>();
  private final Map<LeaseId, GroupJob> open = new LinkedHashMap<>();
  private final Deque<GroupJob.Part> waiting = new ArrayDeque<>();
  private final NewestWeights newest = new NewestWeights();
  private final FleetCounts counts = new FleetCounts();
  private final RestartAccount restarts = new RestartAccount();
  private long drawn;
  private boolean closed;

  /** A fleet of servers that others run. */
  public FleetSampler(Tokenizer tokenizer, int contextLength, WeightShelf shelf, Retry retry) {
    this(tokenizer, contextLength, shelf, retry, Keeper.nobody());
  }

  /**
   * A fleet without servers, whose requests wait for one.
   *
   * @param keeper of the servers
   */
  public FleetSampler(
      Tokenizer tokenizer, int contextLength, WeightShelf shelf, Retry retry, Keeper keeper) {
    this.keeper = keeper;
    this.tokenizer = tokenizer;
    this.contextLength = contextLength;
    this.shelf = shelf;
    this.retry = retry;
  }

  /** A server joins under a name; it gets work once it holds the newest weights. */
  public void join(String name, Endpoint endpoint) {
    Replica replica =
        new Replica(
            name,
            new Wire(endpoint),
            tokenizer.endOfSequence(),
            Optional.<Replica.Restarter>of(weights -> restart(name, weights))
                .filter(_ -> keeper.restartsForWeights(name)));
    synchronized (this) {
      require(!replicas.containsKey(name), "a server named %s is in the fleet already", name);
      replicas.put(name, replica);
      fleet = fleet.join(name, endpoint.concurrency());
    }
    LOG.info("server={} joins endpoint={}", name, endpoint);
    Household household = new Household();
    var _ = Thread.ofVirtual().name("attendant-" + name).start(new Attendant(replica, household));
    var _ = Thread.ofVirtual().name("load-" + name).start(new LoadWatch(replica, household));
  }

  /** A server leaves; what it has not begun goes elsewhere. */
  public void leave(String name) {
    Optional<Replica> gone;
    synchronized (this) {
      gone = Optional.ofNullable(replicas.remove(name));
      fleet = fleet.leave(name);
      notifyAll();
    }
    gone.ifPresent(
        replica -> {
          LOG.info("server={} leaves", name);
          replica.close();
        });
  }

  /** How it fares, on a line. */
  public synchronized String report() {
    return "servers=%d ready=%d waiting=%d %s%s"
        .formatted(
            replicas.size(), fleet.readyMembers(), waiting.size(), counts.line(), restarts.line());
  }

  private boolean restart(String name, Path weights) throws InterruptedException {
    long begun = System.nanoTime();
    boolean serves = keeper.restart(name, weights);
    Duration pause = Duration.ofNanos(System.nanoTime() - begun);
    Optional<Duration> step;
    synchronized (this) {
      step = restarts.restarted(pause);
    }
    LOG.info("server={} restarted_with={} pause_ms={}", name, weights, pause.toMillis());
    step.ifPresent(
        shorter ->
            LOG.warn(
                "server={} takes pause_ms={} to restart, and there are new weights every"
                    + " step_ms={}: take a server that reads weights while it runs, or raise"
                    + " training.groups_per_step",
                name,
                pause.toMillis(),
                shorter.toMillis()));
    return serves;
  }

  @Override
  public List<CompletionStage<List<Completion>>> sample(List<SampleRequest> requests) {
    List<GroupJob> jobs = new ArrayList<>();
    for (SampleRequest request : requests) {
      require(
          !request.settings().rawLogProbs(),
          "lease %s: servers tell no bare log-probabilities",
          request.lease());
      require(
          request.prompt().length < contextLength,
          "lease %s: a prompt of %d tokens leaves no room in a context of %d",
          request.lease(),
          request.prompt().length,
          contextLength);
      jobs.add(new GroupJob(request));
    }
    synchronized (this) {
      for (GroupJob job : jobs) {
        if (closed) {
          job.answer().completeExceptionally(new IllegalStateException("the sampler is closed"));
        } else {
          require(
              open.putIfAbsent(job.request().lease(), job) == null,
              "lease %s is being sampled already",
              job.request().lease());
          waiting.add(new GroupJob.Part(job, 0, job.request().completions(), 0));
        }
      }
    }
    dispatch();
    List<CompletionStage<List<Completion>>> stages = new ArrayList<>();
    jobs.forEach(job -> stages.add(job.answer().minimalCompletionStage()));
    return stages;
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
    synchronized (this) {
      if (closed) {
        loaded.completeExceptionally(new IllegalStateException("the sampler is closed"));
      } else {
        if (newest.offer(tag, directory, loaded)) {
          fleet = fleet.allWithdrawn();
          restarts.offered(System.nanoTime());
        }
        notifyAll();
      }
    }
    return loaded.minimalCompletionStage();
  }

  @Override
  public void cancel(LeaseId lease) {
    Optional<GroupJob> job;
    synchronized (this) {
      job = Optional.ofNullable(open.get(lease));
    }
    job.ifPresent(found -> fail(found, new CancellationException(lease + " was cancelled")));
  }

  @Override
  public void close() {
    List<GroupJob> jobs;
    List<CompletableFuture<WeightVersion>> unloaded;
    List<String> names;
    synchronized (this) {
      closed = true;
      jobs = List.copyOf(open.values());
      unloaded = newest.unreached();
      names = List.copyOf(replicas.keySet());
      notifyAll();
    }
    IllegalStateException reason = new IllegalStateException("the sampler was closed");
    jobs.forEach(job -> fail(job, reason));
    unloaded.forEach(load -> load.completeExceptionally(reason));
    names.forEach(this::leave);
    clock.shutdownNow();
  }

  /** Gives waiting parts to servers that are ready for them. */
  private void dispatch() {
    List<Errand> errands = new ArrayList<>();
    synchronized (this) {
      int look = waiting.size();
      for (int i = 0; i < look && fleet.readyMembers() > 0; i++) {
        GroupJob.Part part = waiting.remove();
        if (part.job().answer().isDone()) {
          continue;
        }
        Optional<String> chosen =
            fleet.choose(part.count(), Arrays.hashCode(part.job().request().prompt()));
        if (chosen.isEmpty()) {
          waiting.add(part);
          continue;
        }
        Replica replica = replicas.get(chosen.get());
        Optional<Capabilities> can = replica == null ? Optional.empty() : replica.known();
        if (replica == null || can.isEmpty() || replica.weights().isEmpty()) {
          waiting.add(part);
          continue;
        }
        fleet = fleet.started(chosen.get(), part.count());
        boolean whole = can.get().dialect().codec().drawsGroups();
        for (GroupJob.Part request : whole ? List.of(part) : part.single()) {
          drawn++;
          errands.add(
              Errand.of(
                  request, replica, can.get(), replica.weights().get(), contextLength, drawn));
        }
      }
    }
    errands.forEach(this::draw);
  }

  private void draw(Errand errand) {
    GroupJob.Part part = errand.part();
    DrawCall call = errand.replica().draw(errand.can().dialect(), errand.draw(), clock);
    boolean over;
    synchronized (this) {
      part.job().calls().add(call);
      over = part.job().answer().isDone();
    }
    if (over) {
      call.cancel();
    }
    var _ =
        call.result()
            .whenComplete(
                (drawnNow, failure) -> {
                  synchronized (this) {
                    part.job().calls().remove(call);
                  }
                  if (failure == null) {
                    took(errand, drawnNow);
                  } else {
                    failed(errand, failure);
                  }
                });
  }

  private void took(Errand errand, List<Drawn> answers) {
    Map<WeightVersion, String> published;
    synchronized (this) {
      published = newest.published();
    }
    switch (errand.judge(answers, tokenizer, published)) {
      case Errand.Worth.Sound(List<Completion> completions) -> keep(errand, completions);
      case Errand.Worth.Unsound(Checked.Refused why) -> refuse(errand, why);
    }
    dispatch();
  }

  private void keep(Errand errand, List<Completion> completions) {
    GroupJob job = errand.part().job();
    Optional<List<Completion>> whole;
    synchronized (this) {
      ended(errand, true);
      counts.completions += completions.size();
      whole = job.take(errand.part().first(), completions);
      if (whole.isPresent()) {
        open.remove(job.request().lease(), job);
      }
    }
    whole.ifPresent(job.answer()::complete);
  }

  private void refuse(Errand errand, Checked.Refused refused) {
    String name = errand.replica().name();
    synchronized (this) {
      counts.refused(refused.reason());
      ended(errand, false);
      if (refused.reason() == Checked.Reason.FOREIGN_WEIGHTS) {
        errand.replica().forget(); // it was started anew, or somebody else updates it
        fleet = fleet.withdrawn(name);
        notifyAll();
      }
    }
    LOG.warn("server={} completion refused {}", name, refused);
    fail(errand.part().job(), new IllegalStateException("%s: %s".formatted(name, refused)));
  }

  private void failed(Errand errand, Throwable failure) {
    Throwable cause =
        failure instanceof CompletionException && failure.getCause() != null
            ? failure.getCause()
            : failure;
    GroupJob.Part part = errand.part();
    Retry.Decision decision =
        cause instanceof EndpointException broken
            ? retry.after(
                broken.fault(),
                part.tries() + 1,
                broken.tokens(),
                errand.replica().wire().endpoint().patience().total(),
                ThreadLocalRandom.current().nextDouble())
            : new Retry.Decision.GiveUp();
    boolean theirs =
        cause instanceof EndpointException broken && broken.fault().speaksAgainstServer();
    boolean hung = cause instanceof EndpointException broken && broken.fault().isHang();
    synchronized (this) {
      ended(errand, !theirs);
      if (fleet.brokenDown(errand.replica().name())
          || (cause instanceof EndpointException doubtful && doubtful.fault().mayBeRestart())) {
        fleet = fleet.withdrawn(errand.replica().name());
        errand.replica().forget();
        notifyAll();
      }
      if (decision instanceof Retry.Decision.Again) {
        counts.retries++;
      }
    }
    switch (decision) {
      case Retry.Decision.Again(Duration pause) -> {
        if (!clock.isShutdown()) {
          var _ =
              clock.schedule(
                  () -> {
                    synchronized (this) {
                      waiting.addFirst(part.again());
                    }
                    dispatch();
                  },
                  pause.toMillis(),
                  TimeUnit.MILLISECONDS);
        }
      }
      case Retry.Decision.GiveUp() -> fail(part.job(), cause);
    }
    if (hung) {
      keeper.broken(errand.replica().name());
    }
    dispatch();
  }

  private void ended(Errand errand, boolean well) {
    fleet = fleet.ended(errand.replica().name(), errand.part().count(), well);
  }

  private void fail(GroupJob job, Throwable cause) {
    List<DrawCall> calls;
    synchronized (this) {
      if (!open.remove(job.request().lease(), job)) {
        return;
      }
      if (!(cause instanceof CancellationException)) {
        counts.failures++;
      }
      calls = List.copyOf(job.calls());
    }
    job.answer().completeExceptionally(cause);
    calls.forEach(DrawCall::cancel);
  }

  /** Waits until the server needs weights; none when it has left. */
  private synchronized Optional<Attendant.Goal> awaitNeed(Replica replica)
      throws InterruptedException {
    while (!closed
        && isMember(replica)
        && (newest.goal().isEmpty() || fleet.isReady(replica.name()))) {
      wait();
    }
    return closed || !isMember(replica) ? Optional.empty() : newest.goal();
  }

  private boolean isMember(Replica replica) {
    return replicas.get(replica.name()) == replica;
  }

  private synchronized boolean rest(Replica replica, Duration pause) throws InterruptedException {
    long end = System.nanoTime() + pause.toNanos();
    long left = pause.toMillis();
    while (left > 0 && !closed && isMember(replica)) {
      wait(left);
      left = (end - System.nanoTime()) / 1_000_000;
    }
    return !closed && isMember(replica);
  }

  private void moved(Replica replica, Attendant.Goal goal) {
    List<CompletableFuture<WeightVersion>> done;
    synchronized (this) {
      counts.updates++;
      if (newest.isGoal(goal) && isMember(replica)) {
        fleet = fleet.ready(replica.name());
      }
      done = newest.reached(goal.tag().version());
    }
    LOG.debug("server={} weights={}", replica.name(), goal.tag());
    done.forEach(load -> load.complete(goal.tag().version()));
    dispatch();
  }

  private void unmoved(Replica replica, Attendant.Goal goal, boolean broken, String reason) {
    synchronized (this) {
      if (closed || !isMember(replica)) {
        return; // another sampler may be at the server by now
      }
      counts.updatesFailed++;
    }
    LOG.warn(
        "server={} {} weights={} reason={}",
        replica.name(),
        broken ? "quarantined" : "unmoved",
        goal.tag(),
        reason);
    if (broken) {
      keeper.broken(replica.name());
    }
  }

  /** What attendants and watches need of the fleet. */
  private final class Household implements Attendant.Post, LoadWatch.Post {
    @Override
    public Optional<Attendant.Goal> awaitNeed(Replica replica) throws InterruptedException {
      return FleetSampler.this.awaitNeed(replica);
    }

    @Override
    public boolean rest(Replica replica, Duration pause) throws InterruptedException {
      return FleetSampler.this.rest(replica, pause);
    }

    @Override
    public void busyForOthers(Replica replica, int requests) {
      synchronized (FleetSampler.this) {
        if (isMember(replica)) {
          fleet = fleet.busyForOthers(replica.name(), requests);
        }
      }
    }

    @Override
    public void hold(Attendant.Goal goal) {
      shelf.hold(goal.directory());
    }

    @Override
    public void release(Attendant.Goal goal) {
      try {
        shelf.release(goal.directory());
      } catch (IOException stays) {
        LOG.warn("weights={} are left behind: {}", goal.directory(), stays.getMessage());
      }
    }

    @Override
    public void moved(Replica replica, Attendant.Goal goal) {
      FleetSampler.this.moved(replica, goal);
    }

    @Override
    public void unmoved(Replica replica, Attendant.Goal goal, boolean broken, String reason) {
      FleetSampler.this.unmoved(replica, goal, broken, reason);
    }
  }
}
