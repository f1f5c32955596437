package io.troupe.engine.http.replica;

import io.troupe.engine.http.broadcast.ServerBroadcast;
import io.troupe.engine.http.client.InferenceCallException;
import io.troupe.engine.http.client.InferenceClient;
import io.troupe.engine.http.client.StreamingCall;
import io.troupe.engine.http.probe.Capabilities;
import io.troupe.engine.http.probe.Capability;
import io.troupe.engine.http.probe.CapabilityProbe;
import io.troupe.engine.http.probe.LocalPolicy;
import io.troupe.engine.http.probe.PublishedWeightForm;
import io.troupe.engine.http.probe.ServerRequirements;
import io.troupe.engine.http.probe.UpdateMethod;
import io.troupe.engine.http.probe.UpdateStep;
import io.troupe.engine.http.protocol.Dialect;
import io.troupe.engine.http.protocol.GenerateRequest;
import io.troupe.engine.http.protocol.LoadReport;
import io.troupe.engine.protocol.WeightTag;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One server of a fleet: its capabilities, its weights, and its sample requests. Updates block, and
 * one thread at a time makes them.
 */
public final class Replica implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Replica.class);

  private static final Duration HEALTH = Duration.ofSeconds(20);

  private final String name;
  private final InferenceClient wire;
  private final Optional<Restarter> restarter;
  private final PublishedWeightForm publishing;
  private final WeightComparisons comparisons;
  private final LoadedAdapters adapters;
  private final Optional<ServerBroadcast> broadcast;
  private final WeightUpdateCalls calls;
  private volatile Optional<Capabilities> capabilities = Optional.empty();
  private volatile Optional<WeightTag> weights = Optional.empty();
  private final AtomicLong doubts = new AtomicLong();
  // Of the thread that makes updates.
  private long checkedLife = -1;
  private Optional<Capabilities> beforeFailedRead = Optional.empty();
  private volatile boolean updating;
  private volatile QueueProgress queue = QueueProgress.NONE;
  private volatile CompletableFuture<Void> settled = CompletableFuture.completedFuture(null);
  private final AtomicLong partialLoads = new AtomicLong();
  private final AtomicInteger requests = new AtomicInteger();
  private final Object idle = new Object();

  /** Restarts the server with weights; returns whether the server serves again. */
  @FunctionalInterface
  public interface Restarter {
    boolean restart(Path weights) throws InterruptedException;
  }

  /**
   * A server.
   *
   * @param policy the run's policy
   * @param restarter restarts the server with new weights; empty where that is not allowed
   */
  public Replica(
      String name,
      InferenceClient wire,
      LocalPolicy policy,
      Optional<Restarter> restarter,
      PublishedWeightForm publishing) {
    this(
        name,
        wire,
        policy,
        new WeightComparisons(policy.tolerance()),
        restarter,
        publishing,
        Optional.empty());
  }

  /**
   * A server.
   *
   * @param comparisons of all lives of the server
   * @param broadcast sends weights to this server by NCCL; empty where it reads files
   */
  public Replica(
      String name,
      InferenceClient wire,
      LocalPolicy policy,
      WeightComparisons comparisons,
      Optional<Restarter> restarter,
      PublishedWeightForm publishing,
      Optional<ServerBroadcast> broadcast) {
    this.name = name;
    this.wire = wire;
    this.restarter = restarter;
    this.publishing = publishing;
    this.adapters = new LoadedAdapters(wire);
    this.broadcast = broadcast;
    this.comparisons = comparisons;
    this.calls =
        new WeightUpdateCalls(
            wire, policy, restarter, publishing, adapters, broadcast, this::awaitIdle);
  }

  public String name() {
    return name;
  }

  public InferenceClient wire() {
    return wire;
  }

  /** Takes the server's report of its load. */
  public void reportLoad(LoadReport load, long now) {
    queue = queue.after(load, now);
  }

  /** Whether requests wait while the server samples for others, by its own reports. */
  private boolean isQueueing() {
    return queue.moves(System.nanoTime(), wire.endpoint().patience().idle());
  }

  /** Returns the number of this run's sample requests in flight. */
  public int requests() {
    return requests.get();
  }

  /** Keeps the adapter of a request loaded until the request ends, or is released. */
  public void reserve(GenerateRequest request) {
    if (!request.adapter().isEmpty()) {
      adapters.began(request.adapter());
    }
  }

  /** Releases the adapter of a request that ended, or does not start. */
  public void release(GenerateRequest request) {
    if (!request.adapter().isEmpty()) {
      adapters.ended(request.adapter());
    }
  }

  /**
   * Sends a reserved request.
   *
   * @param sinceNanos time of the first request for its completions
   */
  public StreamingCall sample(
      Dialect dialect, GenerateRequest request, long sinceNanos, ScheduledExecutorService clock) {
    requests.incrementAndGet();
    StreamingCall call =
        wire.sample(dialect, request, sinceNanos, this::isUpdating, this::isQueueing, clock);
    var _ =
        call.result()
            .whenComplete(
                (_, _) -> {
                  release(request);
                  if (requests.decrementAndGet() == 0) {
                    synchronized (idle) {
                      idle.notifyAll();
                    }
                  }
                });
    return call;
  }

  /** Waits for the requests in flight, which have deadlines. Later ones are refused and retried. */
  private Optional<String> awaitIdle() throws InterruptedException {
    long end = System.nanoTime() + wire.endpoint().patience().total().toNanos();
    synchronized (idle) {
      while (requests.get() > 0) {
        long left = (end - System.nanoTime()) / 1_000_000;
        if (left <= 0) {
          return Optional.of("%d requests do not end".formatted(requests.get()));
        }
        idle.wait(left);
      }
    }
    return Optional.empty();
  }

  /** Whether the server may be restarted for new weights. */
  boolean mayRestart() {
    return restarter.isPresent();
  }

  /** Returns the run's requirements on the server. */
  ServerRequirements needs() {
    return ServerRequirements.of(calls.policy(), publishing, mayRestart())
        .broadcasting(broadcast.isPresent());
  }

  /** Returns the form in which the server gets each version. */
  PublishedWeightForm publishing() {
    return publishing;
  }

  /** The adapter that a request for these weights names; empty for the bare model. */
  public String adapter(WeightTag asked) {
    return calls.adapter(asked);
  }

  private UpdateMethod updateMethod(Capabilities can) {
    if (broadcast.isPresent()) {
      return can.broadcastWay();
    }
    UpdateMethod best = can.updateWay(publishing);
    return (best == UpdateMethod.NONE || comparisons.reloadsInPart()) && mayRestart()
        ? UpdateMethod.RESTART
        : best;
  }

  /**
   * The server's capabilities; probed again after {@link #resetCapabilities}. A server that began
   * to read weights and failed is neither resumed nor probed before it has read some: a vLLM has
   * emptied its layers by then, and ends at the next token.
   */
  public Capabilities capabilities() throws InterruptedException {
    Optional<Capabilities> can = capabilities; // another thread may reset them meanwhile
    if (can.isEmpty() && beforeFailedRead.isPresent()) {
      wire.get("/health", HEALTH); // a server that is gone has not read half of anything
      can = beforeFailedRead;
      capabilities = can;
    } else if (can.isEmpty()) {
      calls.resumeIfPaused(); // a paused server never answers the probe
      can = Optional.of(CapabilityProbe.probe(wire));
      capabilities = can;
    }
    return can.get();
  }

  public Optional<Capabilities> knownCapabilities() {
    return capabilities;
  }

  /** Forgets what is known of the server, because it may be another process. */
  public void resetCapabilities() {
    capabilities = Optional.empty();
    weights = Optional.empty();
    doubts.incrementAndGet();
    adapters.doubt();
    broadcast.ifPresent(ServerBroadcast::reset);
  }

  /** The weights that the server is known to sample with. */
  public Optional<WeightTag> weights() {
    return weights;
  }

  /** Whether an update or a pause may stall the server's tokens. */
  boolean isUpdating() {
    return updating;
  }

  /**
   * Returns the number of times that a reading of weights began and did not end in an update.
   * Tokens that were sampled while this number changed may be of partially read weights.
   */
  public long partialLoads() {
    return partialLoads.get();
  }

  /** Completes when the outcome of the present reading is known; without one, it is complete. */
  public CompletionStage<Void> settled() {
    return settled.minimalCompletionStage();
  }

  /**
   * Updates the server to weights.
   *
   * @return the outcome, never {@link WeightUpdate.Next.Do}
   */
  public WeightUpdate.Next update(WeightSyncLoop.TargetWeightSet goal) throws InterruptedException {
    WeightTag tag = goal.tag();
    long life = doubts.get();
    Capabilities can = capabilities();
    if (publishing == PublishedWeightForm.MERGED
        && can.has(Capability.WEIGHT_NAME)
        && calls.named(can).equals(tag.toString())) {
      calls.resumeIfPaused();
      WeightUpdate.Next tried = carryOut(WeightUpdate.trialOf(updateMethod(can)), goal, can, life);
      weights = tried instanceof WeightUpdate.Next.Updated ? Optional.of(tag) : Optional.empty();
      return tried;
    }
    updating =
        publishing == PublishedWeightForm.MERGED; // nothing stalls while an adapter is loaded
    try {
      WeightUpdate.Next end = carryOut(WeightUpdate.begin(updateMethod(can)), goal, can, life);
      if (end instanceof WeightUpdate.Next.Updated) {
        weights = Optional.of(tag);
      } else if (end instanceof WeightUpdate.Next.Broken) {
        weights = Optional.empty();
      }
      return end;
    } finally {
      updating = false;
    }
  }

  /** Unloads the adapters that no request uses; false if the server had lost one of them. */
  boolean unloadUnusedAdapters() throws InterruptedException {
    Optional<Capabilities> can = capabilities;
    Optional<WeightTag> current = weights;
    if (can.isEmpty() || current.isEmpty()) {
      return true;
    }
    LoadedAdapters.Unloaded unloaded =
        adapters.unloadUnused(current.get().toString(), can.get().dialect());
    if (!unloaded.kept().isEmpty()) {
      LOG.warn("server={} keeps adapters={} until the next update", name, unloaded.kept());
    }
    return unloaded.lost().isEmpty();
  }

  private WeightUpdate.Next carryOut(
      WeightUpdate begun, WeightSyncLoop.TargetWeightSet goal, Capabilities can, long life)
      throws InterruptedException {
    WeightUpdate update = begun;
    boolean reads = false;
    CompletableFuture<Void> end = new CompletableFuture<>();
    try {
      while (update.next() instanceof WeightUpdate.Next.Do(UpdateStep step)) {
        update = update.started(step);
        if (step.loadsWeights()) { // before a restart no request is in flight
          reads = true;
          settled = end;
        }
        update = taken(update, step, goal, can, life);
      }
      return update.next();
    } finally {
      boolean updated = update.next() instanceof WeightUpdate.Next.Updated;
      if (reads && !updated) {
        partialLoads.incrementAndGet();
      }
      beforeFailedRead = update.failedToRead() ? Optional.of(can) : Optional.empty();
      end.complete(null);
    }
  }

  private WeightUpdate taken(
      WeightUpdate update,
      UpdateStep step,
      WeightSyncLoop.TargetWeightSet goal,
      Capabilities can,
      long life)
      throws InterruptedException {
    boolean idles = requests.get() == 0; // a busy server may only be slow
    try {
      if (step == UpdateStep.BASE) {
        return baseChecked(update, goal, can, life);
      }
      if (step == UpdateStep.COMPARE) {
        return compared(update, goal, can);
      }
      Optional<String> failure = calls.take(step, goal, can);
      return failure.isEmpty() ? update.succeeded() : update.failed(failure.get());
    } catch (InferenceCallException broken) {
      return idles && broken.fault().isHang()
          ? update.hung(step)
          : update.unanswered(broken.fault().toString());
    }
  }

  /** Checks the model under the adapters, unless this life of the server has passed already. */
  private WeightUpdate baseChecked(
      WeightUpdate update, WeightSyncLoop.TargetWeightSet goal, Capabilities can, long life)
      throws InterruptedException {
    if (checkedLife == life) {
      return update.succeeded();
    }
    return switch (calls.checkWeights(goal, can, 0, ServedWeightsCheck.TOLERANCE)) {
      case ServedWeightsCheck.CheckOutcome.SameWeights(double _) -> {
        checkedLife = life;
        yield update.succeeded();
      }
      case ServedWeightsCheck.CheckOutcome.OtherWeights(String how) -> update.failed(how);
      case ServedWeightsCheck.CheckOutcome.Unable(String why) -> update.unable(why);
    };
  }

  /** Checks that the server samples with the merged weights, if this run compares them. */
  private WeightUpdate compared(
      WeightUpdate update, WeightSyncLoop.TargetWeightSet goal, Capabilities can)
      throws InterruptedException {
    OptionalDouble tolerance = comparisons.tolerance();
    if (tolerance.isEmpty()) {
      return update.succeeded();
    }
    return switch (calls.checkWeights(goal, can, update.attempts(), tolerance.getAsDouble())) {
      case ServedWeightsCheck.CheckOutcome.SameWeights(double nats) -> {
        LOG.debug("server={} weights={} distance={}", name, goal.tag(), nats);
        comparisons.measured(nats);
        yield update.succeeded();
      }
      case ServedWeightsCheck.CheckOutcome.OtherWeights(String how) -> {
        WeightUpdate failed = update.failed(how);
        if (failed.next() instanceof WeightUpdate.Next.Broken) {
          comparisons.reloadedInPart();
        }
        yield failed;
      }
      case ServedWeightsCheck.CheckOutcome.Unable(String why) -> {
        LOG.warn("server={} weights={} not compared with the run's: {}", name, goal.tag(), why);
        yield update.succeeded();
      }
    };
  }

  @Override
  public void close() {
    wire.close();
    broadcast.ifPresent(ServerBroadcast::close);
  }
}
