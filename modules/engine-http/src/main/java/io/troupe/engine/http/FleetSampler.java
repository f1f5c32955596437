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
import io.troupe.engine.http.protocol.CompletionCheck;
import io.troupe.engine.http.protocol.Dialect;
import io.troupe.engine.http.protocol.Draw;
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
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
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
  private static final Duration GATHER = Duration.ofSeconds(1);
  private static final int VERSIONS_KEPT = 1024;

  private record Waiting(WeightVersion version, CompletableFuture<WeightVersion> loaded) {}

  private record Assigned(GroupJob.Part part, Replica replica, WeightTag asked) {}

  private final Tokenizer tokenizer;
  private final int contextLength;
  private final WeightShelf shelf;
  private final Retry retry;
  private final Consumer<String> onBroken;
  private final Runnable onClose;
  private final ScheduledExecutorService clock =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().name("fleet-clock").daemon().factory());

  // Guarded by this.
  private Fleet fleet = Fleet.EMPTY;
  private final Map<String, Replica> replicas = new HashMap<>();
  private final Map<LeaseId, GroupJob> open = new LinkedHashMap<>();
  private final Deque<GroupJob.Part> waiting = new ArrayDeque<>();
  private final List<Waiting> loads = new ArrayList<>();
  private Map<WeightVersion, String> published = Map.of();
  private Optional<Attendant.Goal> target = Optional.empty();
  private final FleetCounts counts = new FleetCounts();
  private long drawn;
  private boolean closed;

  /** A fleet of servers that nobody starts anew. */
  public FleetSampler(Tokenizer tokenizer, int contextLength, WeightShelf shelf, Retry retry) {
    this(tokenizer, contextLength, shelf, retry, _ -> {}, () -> {});
  }

  /**
   * A fleet without servers, whose requests wait for one.
   *
   * @param onBroken hears of servers that hang, or whose update is half done: such a one is to be
   *     started anew
   * @param onClose is called when it is closed
   */
  public FleetSampler(
      Tokenizer tokenizer,
      int contextLength,
      WeightShelf shelf,
      Retry retry,
      Consumer<String> onBroken,
      Runnable onClose) {
    this.onBroken = onBroken;
    this.onClose = onClose;
    this.tokenizer = tokenizer;
    this.contextLength = contextLength;
    this.shelf = shelf;
    this.retry = retry;
  }

  /** A server joins under a name; it gets work once it holds the newest weights. */
  public void join(String name, Endpoint endpoint) {
    Replica replica = new Replica(name, new Wire(endpoint), tokenizer.endOfSequence());
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
    return "servers=%d ready=%d waiting=%d %s"
        .formatted(replicas.size(), fleet.readyMembers(), waiting.size(), counts.line());
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
      boolean older =
          target.filter(now -> now.tag().version().compareTo(tag.version()) > 0).isPresent();
      if (closed) {
        loaded.completeExceptionally(new IllegalStateException("the sampler is closed"));
      } else {
        loads.add(new Waiting(weights.version(), loaded));
        if (!older && !target.equals(Optional.of(new Attendant.Goal(tag, directory)))) {
          SortedMap<WeightVersion, String> known = new TreeMap<>(published);
          known.put(weights.version(), tag.digest());
          if (known.size() > VERSIONS_KEPT) {
            known.pollFirstEntry();
          }
          published = Map.copyOf(known); // once a version, and not once a completion
          target = Optional.of(new Attendant.Goal(tag, directory));
          fleet = fleet.allWithdrawn();
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
    List<Waiting> unloaded;
    List<String> names;
    synchronized (this) {
      closed = true;
      jobs = List.copyOf(open.values());
      unloaded = List.copyOf(loads);
      names = List.copyOf(replicas.keySet());
      notifyAll();
    }
    IllegalStateException reason = new IllegalStateException("the sampler was closed");
    jobs.forEach(job -> fail(job, reason));
    unloaded.forEach(load -> load.loaded().completeExceptionally(reason));
    names.forEach(this::leave);
    clock.shutdownNow();
    onClose.run();
  }

  /** Gives waiting parts to servers that are ready for them. */
  private void dispatch() {
    List<Assigned> assigned = new ArrayList<>();
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
          assigned.add(new Assigned(request, replica, replica.weights().get()));
        }
      }
    }
    assigned.forEach(this::draw);
  }

  private void draw(Assigned assigned) {
    GroupJob.Part part = assigned.part();
    Capabilities can = assigned.replica().known().orElseThrow();
    Draw draw = request(assigned, can);
    DrawCall call = assigned.replica().draw(can.dialect(), draw, clock);
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
                    took(assigned, can, draw, drawnNow);
                  } else {
                    failed(assigned, failure);
                  }
                });
  }

  private synchronized Draw request(Assigned assigned, Capabilities can) {
    SampleRequest request = assigned.part().job().request();
    boolean group =
        can.dialect().codec().drawsGroups() && assigned.part().count() == request.completions();
    drawn++;
    return new Draw(
        request.lease().toString().replace('#', '.') + "-" + drawn,
        can.model(),
        request.prompt(),
        assigned.part().count(),
        request.settings(),
        Math.min(request.settings().maxTokens(), contextLength - request.prompt().length),
        group ? request.seed() : Draw.seedOf(request.seed(), assigned.part().first()),
        can.dialect() == Dialect.TROUPE ? "" : assigned.asked().toString(),
        GATHER);
  }

  private void took(Assigned assigned, Capabilities can, Draw draw, List<Drawn> answers) {
    GroupJob.Part part = assigned.part();
    GroupJob job = part.job();
    Set<Integer> ends = new HashSet<>(tokenizer.endIds());
    ends.addAll(draw.settings().stopIds());
    CompletionCheck check;
    synchronized (this) {
      check =
          new CompletionCheck(
              draw.prompt(),
              tokenizer.vocabularySize(),
              draw.maxTokens(),
              ends,
              !draw.settings().stops().isEmpty(),
              assigned.asked(),
              published,
              can.has(Capability.WEIGHT_SPANS));
    }
    List<Completion> sound = new ArrayList<>();
    Optional<Checked.Refused> refused = Optional.empty();
    for (Drawn answer : answers) {
      switch (check.check(answer)) {
        case Checked.Sound(Completion completion) ->
            sound.add(StopCut.of(completion, draw.settings().stops(), tokenizer));
        case Checked.Refused no -> refused = Optional.of(no);
      }
    }
    if (refused.isPresent()) {
      refuse(assigned, refused.get());
      return;
    }
    Optional<List<Completion>> whole;
    synchronized (this) {
      ended(assigned, true);
      counts.completions += sound.size();
      whole = job.take(part.first(), sound);
      if (whole.isPresent()) {
        open.remove(job.request().lease(), job);
      }
    }
    whole.ifPresent(job.answer()::complete);
    dispatch();
  }

  private void refuse(Assigned assigned, Checked.Refused refused) {
    String name = assigned.replica().name();
    synchronized (this) {
      counts.refused(refused.reason());
      ended(assigned, false);
      if (refused.reason() == Checked.Reason.FOREIGN_WEIGHTS) {
        assigned.replica().forget(); // it was started anew, or somebody else updates it
        fleet = fleet.withdrawn(name);
        notifyAll();
      }
    }
    LOG.warn("server={} completion refused {}", name, refused);
    fail(assigned.part().job(), new IllegalStateException("%s: %s".formatted(name, refused)));
    dispatch();
  }

  private void failed(Assigned assigned, Throwable failure) {
    Throwable cause =
        failure instanceof CompletionException && failure.getCause() != null
            ? failure.getCause()
            : failure;
    GroupJob.Part part = assigned.part();
    Retry.Decision decision =
        cause instanceof EndpointException broken
            ? retry.after(
                broken.fault(),
                part.tries() + 1,
                broken.tokens(),
                assigned.replica().wire().endpoint().patience().total(),
                ThreadLocalRandom.current().nextDouble())
            : new Retry.Decision.GiveUp();
    boolean theirs =
        cause instanceof EndpointException broken && broken.fault().speaksAgainstServer();
    boolean hung = cause instanceof EndpointException broken && broken.fault().isHang();
    synchronized (this) {
      ended(assigned, !theirs);
      if (fleet.brokenDown(assigned.replica().name())
          || (cause instanceof EndpointException doubtful && doubtful.fault().mayBeRestart())) {
        fleet = fleet.withdrawn(assigned.replica().name());
        assigned.replica().forget();
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
      onBroken.accept(assigned.replica().name());
    }
    dispatch();
  }

  private void ended(Assigned assigned, boolean well) {
    fleet = fleet.ended(assigned.replica().name(), assigned.part().count(), well);
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
    while (!closed && isMember(replica) && (target.isEmpty() || fleet.isReady(replica.name()))) {
      wait();
    }
    return closed || !isMember(replica) ? Optional.empty() : target;
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
    List<Waiting> done = new ArrayList<>();
    synchronized (this) {
      counts.updates++;
      if (target.equals(Optional.of(goal)) && isMember(replica)) {
        fleet = fleet.ready(replica.name());
      }
      loads.removeIf(load -> load.version().compareTo(goal.tag().version()) <= 0 && done.add(load));
    }
    LOG.debug("server={} weights={}", replica.name(), goal.tag());
    done.forEach(load -> load.loaded().complete(goal.tag().version()));
    dispatch();
  }

  private void unmoved(Replica replica, Attendant.Goal goal, boolean broken, String reason) {
    synchronized (this) {
      counts.updatesFailed++;
    }
    LOG.warn(
        "server={} {} weights={} reason={}",
        replica.name(),
        broken ? "quarantined" : "unmoved",
        goal.tag(),
        reason);
    if (broken) {
      onBroken.accept(replica.name());
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
    public void moved(Replica replica, Attendant.Goal goal) {
      FleetSampler.this.moved(replica, goal);
    }

    @Override
    public void unmoved(Replica replica, Attendant.Goal goal, boolean broken, String reason) {
      FleetSampler.this.unmoved(replica, goal, broken, reason);
    }
  }
}
