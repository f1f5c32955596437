package io.troupe.engine.http.fleet;

import static io.troupe.core.Require.require;

import io.troupe.core.completion.Completion;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.http.client.StreamingCall;
import io.troupe.engine.http.probe.Capabilities;
import io.troupe.engine.http.probe.LocalPolicy;
import io.troupe.engine.http.protocol.CallFailure;
import io.troupe.engine.http.protocol.CheckedCompletion;
import io.troupe.engine.http.replica.Replica;
import io.troupe.engine.http.replica.WeightSyncLoop;
import io.troupe.engine.protocol.WeightTag;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;

/**
 * The state of a fleet: its replicas, the groups requested from it, the newest weights and the
 * counters. A monitor: each method moves from one consistent state to the next, and returns the
 * work to do outside the lock, which is calls to servers and callers' continuations.
 */
final class FleetState {
  private final LocalPolicy policy;

  // All guarded by this.
  private LoadBalancer fleet = LoadBalancer.EMPTY;
  private final Map<String, Replica> replicas = new HashMap<>();
  private final OpenGroups groups = new OpenGroups();
  private final TargetWeights newest = new TargetWeights();
  private final FleetCounts counts = new FleetCounts();
  private final RestartCosts restarts = new RestartCosts();
  private final Map<String, ReplicaQuarantine> quarantines = new HashMap<>();
  private long requests;
  private boolean closed;

  /** The state of a fleet without replicas. */
  FleetState(LocalPolicy policy) {
    this.policy = policy;
  }

  /** The completions that a closed fleet had not finished. */
  record Remainder(
      List<GroupRequest> jobs,
      List<CompletableFuture<WeightVersion>> unloaded,
      List<String> servers) {}

  // Replicas.

  /** Adds a replica; it gets no work before it is ready. */
  synchronized void join(Replica replica) {
    require(
        replicas.putIfAbsent(replica.name(), replica) == null,
        "a server named %s is in the fleet already; it has to leave first",
        replica.name());
    fleet = fleet.join(replica.name(), replica.wire().endpoint().concurrency());
  }

  /** Removes a replica, if the fleet has it. */
  synchronized Optional<Replica> leave(String name) {
    Optional<Replica> gone = Optional.ofNullable(replicas.remove(name));
    fleet = fleet.leave(name);
    quarantines.remove(name);
    notifyAll();
    return gone;
  }

  private boolean serves(Replica replica) {
    return !closed && replicas.get(replica.name()) == replica;
  }

  /**
   * Waits until a replica needs weights and its circuit breaker permits work; empty once the
   * replica has left.
   */
  synchronized Optional<WeightSyncLoop.TargetWeightSet> awaitTarget(Replica replica)
      throws InterruptedException {
    while (serves(replica)) {
      boolean idle = newest.goal().isEmpty() || fleet.isReady(replica.name());
      long left = quarantineMillis(replica.name());
      if (!idle && left == 0) {
        return newest.goal();
      }
      wait(idle ? 0 : left);
    }
    return Optional.empty();
  }

  /** Rounded up, so that the result is 0 only once the quarantine is over. */
  private long quarantineMillis(String server) {
    Optional<ReplicaQuarantine> quarantine = Optional.ofNullable(quarantines.get(server));
    long nanos = quarantine.map(one -> one.remaining(System.nanoTime()).toNanos()).orElse(0L);
    return (nanos + 999_999) / 1_000_000;
  }

  private void quarantine(Replica replica, String reason) {
    if (serves(replica)) {
      long now = System.nanoTime();
      quarantines.compute(
          replica.name(),
          (_, before) ->
              before == null ? ReplicaQuarantine.first(now, reason) : before.next(now, reason));
      invalidateWeights(replica);
    }
  }

  /**
   * Returns the reason why no replica samples, while the circuit breakers of all replicas are open.
   */
  synchronized Optional<String> outage() {
    boolean all =
        !replicas.isEmpty()
            && replicas.keySet().stream().allMatch(name -> quarantineMillis(name) > 0);
    return all
        ? Optional.of(
            quarantines.entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .map(entry -> "%s: %s".formatted(entry.getKey(), entry.getValue().reason()))
                .collect(Collectors.joining("; ")))
        : Optional.empty();
  }

  /** Waits for the pause, or until the replica leaves; false once it has left. */
  synchronized boolean rest(Replica replica, Duration pause) throws InterruptedException {
    long end = System.nanoTime() + pause.toNanos();
    long left = pause.toMillis();
    while (left > 0 && serves(replica)) {
      wait(left);
      left = (end - System.nanoTime()) / 1_000_000;
    }
    return serves(replica);
  }

  /** Records how many requests of other clients a server has. */
  synchronized void busyForOthers(Replica replica, int others) {
    if (serves(replica)) {
      fleet = fleet.withOtherLoad(replica.name(), others);
    }
  }

  /**
   * Records that a server was restarted and serves again; returns the time between two weight
   * versions if that time is shorter.
   */
  synchronized Optional<Duration> restarted(Duration pause) {
    return restarts.restarted(pause);
  }

  // Weights.

  /**
   * Offers weights to the replicas, unless the fleet has newer weights.
   *
   * @param loaded completes once a replica has these weights or newer ones
   * @return false once closed
   */
  synchronized boolean offer(
      WeightSyncLoop.TargetWeightSet goal, CompletableFuture<WeightVersion> loaded) {
    if (!closed && newest.offer(goal, loaded)) {
      fleet = fleet.allWithoutWork();
      restarts.offered(System.nanoTime());
    }
    notifyAll();
    return !closed;
  }

  /** Digests of the offered versions. */
  synchronized Map<WeightVersion, String> published() {
    return newest.published();
  }

  /**
   * Records that a replica samples with weights; returns the futures that waited for these weights.
   * Empty if the replica was suspected during the update: the server may have restarted, so it is
   * checked and updated again.
   */
  synchronized Optional<List<CompletableFuture<WeightVersion>>> updated(
      Replica replica, WeightSyncLoop.TargetWeightSet goal) {
    if (replica.knownCapabilities().isEmpty() || replica.weights().isEmpty()) {
      return Optional.empty();
    }
    counts.updates++;
    if (newest.isGoal(goal) && serves(replica)) {
      fleet = fleet.ready(replica.name());
    }
    return Optional.of(newest.reached(goal.tag().version()));
  }

  /** Records that a weight update failed; false if the replica has left and needs no repair. */
  synchronized boolean updateFailed(Replica replica) {
    boolean ours = serves(replica);
    if (ours) {
      counts.updatesFailed++;
    }
    return ours;
  }

  // Groups.

  /** Returns the groups that are not complete. */
  synchronized List<GroupRequest> openJobs() {
    return groups.all();
  }

  /** Opens a group to sample; false once closed. */
  synchronized boolean open(GroupRequest job) {
    if (!closed) {
      groups.add(job);
    }
    return !closed;
  }

  synchronized Optional<GroupRequest> job(LeaseId lease) {
    return groups.of(lease);
  }

  /** Assigns waiting parts to ready replicas and returns the requests to send. */
  synchronized List<ReplicaRequest> assignParts() {
    return fleet.readyMembers() > 0 ? groups.assign(this::requestsFor) : List.of();
  }

  private List<ReplicaRequest> requestsFor(GroupRequest.Part part) {
    Optional<Replica> chosen =
        fleet
            .choose(part.count(), Arrays.hashCode(part.job().request().prompt()))
            .flatMap(name -> Optional.ofNullable(replicas.get(name)));
    Optional<Capabilities> can = chosen.flatMap(Replica::knownCapabilities);
    Optional<WeightTag> weights = chosen.flatMap(Replica::weights);
    if (chosen.isEmpty() || can.isEmpty() || weights.isEmpty()) {
      return List.of();
    }
    fleet = fleet.started(chosen.get().name(), part.count());
    List<ReplicaRequest> assigned = new ArrayList<>();
    for (GroupRequest.Part asked : can.get().samplesGroups() ? List.of(part) : part.singles()) {
      requests++;
      ReplicaRequest request =
          ReplicaRequest.of(asked, chosen.get(), can.get(), weights.get(), policy, requests);
      request.replica().reserve(request.sample()); // before another thread can unload its adapter
      assigned.add(request);
    }
    return assigned;
  }

  /** Records that a call has begun; false if its group is over already. */
  synchronized boolean callBegan(GroupRequest job, StreamingCall call) {
    job.calls().add(call);
    return !job.answer().isDone();
  }

  synchronized void callEnded(GroupRequest job, StreamingCall call) {
    job.calls().remove(call);
  }

  /** Records a usable answer; returns the group's completions once they are complete. */
  synchronized Optional<List<Completion>> recordUsable(
      ReplicaRequest request, Map<Integer, Completion> whole) {
    ended(request, true);
    quarantines.remove(request.replica().name());
    return take(request, whole);
  }

  /**
   * Records the usable completions of a request that failed; returns the group once it is complete.
   */
  synchronized Optional<List<Completion>> recordPartial(
      ReplicaRequest request, Map<Integer, Completion> whole) {
    return take(request, whole);
  }

  private Optional<List<Completion>> take(ReplicaRequest request, Map<Integer, Completion> whole) {
    counts.completions += whole.size();
    return groups.take(request.part().job(), whole);
  }

  /** Records that a completion arrived and is refused. */
  synchronized void recordRefused(ReplicaRequest request, CheckedCompletion.Refused why) {
    ended(request, false);
    recordRefusedPartial(request, why.reason());
    if (fleet.isOutOfService(request.replica().name())) {
      quarantine(request.replica(), why.toString());
    }
  }

  /** Records that the tokens of a failed request are refused. */
  synchronized void recordRefusedPartial(ReplicaRequest request, CheckedCompletion.Reason reason) {
    counts.refused(reason);
    if (reason == CheckedCompletion.Reason.FOREIGN_WEIGHTS) {
      invalidateWeights(request.replica()); // it was restarted, or another client updates it
    }
  }

  /** Records that a request ended without a result, through no fault of its replica. */
  synchronized void requestAbandoned(ReplicaRequest request) {
    ended(request, true);
  }

  /** Records that a request failed at its replica. */
  synchronized void requestFailed(ReplicaRequest request, CallFailure fault) {
    ended(request, !fault.speaksAgainstServer());
    if (fleet.isOutOfService(request.replica().name())) {
      quarantine(request.replica(), fault.toString());
    } else if (fault.mayBeRestart()) {
      invalidateWeights(request.replica());
    }
  }

  private void ended(ReplicaRequest request, boolean well) {
    fleet = fleet.ended(request.replica().name(), request.part().count(), well);
  }

  /** Marks a replica's weights as uncertain: its weight sync loop must check them. */
  synchronized void invalidateWeights(Replica replica) {
    replica.resetCapabilities();
    fleet = fleet.withoutWork(replica.name());
    notifyAll();
  }

  /** Puts a part, to be requested again or continued, before all waiting parts. */
  synchronized void retryFirst(GroupRequest.Part part) {
    if (!part.job().answer().isDone()) {
      if (part.tries() == 0) {
        counts.continued++;
      } else {
        counts.retries++;
      }
      groups.first(part);
    }
  }

  /**
   * Gives a group up.
   *
   * @param failed false if its caller cancelled it
   * @return the group's calls in flight; empty if the group is over already
   */
  synchronized Optional<List<StreamingCall>> giveUp(GroupRequest job, boolean failed) {
    if (!groups.remove(job)) {
      return Optional.empty();
    }
    if (failed) {
      counts.failures++;
    }
    return Optional.of(List.copyOf(job.calls()));
  }

  // The whole fleet.

  /** Closes the state; it accepts nothing more. */
  synchronized Remainder close() {
    closed = true;
    notifyAll();
    return new Remainder(groups.all(), newest.unreached(), List.copyOf(replicas.keySet()));
  }

  /** The state of the fleet, on one line. */
  synchronized String report() {
    return "servers=%d ready=%d quarantined=%d waiting=%d %s%s"
        .formatted(
            replicas.size(),
            fleet.readyMembers(),
            replicas.keySet().stream().filter(name -> quarantineMillis(name) > 0).count(),
            groups.waiting(),
            counts.line(),
            restarts.line());
  }
}
