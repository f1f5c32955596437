package io.troupe.engine.http.fleet;

import static io.troupe.core.Require.require;

import io.troupe.core.rollout.Completion;
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
 * What a fleet has and owes: its servers, the groups asked of it, the newest weights, the counts. A
 * monitor: each method is one step from one sound state to the next, and what is to be done
 * outside, calls to servers and callers' continuations, is given back.
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

  /** Of a fleet without servers. */
  FleetState(LocalPolicy policy) {
    this.policy = policy;
  }

  /** What is left of a fleet that was closed. */
  record Remainder(
      List<GroupRequest> jobs,
      List<CompletableFuture<WeightVersion>> unloaded,
      List<String> servers) {}

  // Servers.

  /** A server joins; it gets no work before it is ready. */
  synchronized void join(Replica replica) {
    require(
        replicas.putIfAbsent(replica.name(), replica) == null,
        "a server named %s is in the fleet already; it has to leave first",
        replica.name());
    fleet = fleet.join(replica.name(), replica.wire().endpoint().concurrency());
  }

  /** A server leaves, if it is there. */
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

  /** Waits until a server needs weights, and may have work; none when it has left. */
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

  /** Rounded up, so that it is 0 only once it is over. */
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

  /** Why no server draws, while all of them are under quarantine. */
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

  /** Waits, at most until a server leaves; false once it has. */
  synchronized boolean rest(Replica replica, Duration pause) throws InterruptedException {
    long end = System.nanoTime() + pause.toNanos();
    long left = pause.toMillis();
    while (left > 0 && serves(replica)) {
      wait(left);
      left = (end - System.nanoTime()) / 1_000_000;
    }
    return serves(replica);
  }

  /** So many requests of others are at a server. */
  synchronized void busyForOthers(Replica replica, int others) {
    if (serves(replica)) {
      fleet = fleet.withOtherLoad(replica.name(), others);
    }
  }

  /** A server was ended and serves again; gives the time between versions where that is shorter. */
  synchronized Optional<Duration> restarted(Duration pause) {
    return restarts.restarted(pause);
  }

  // Weights.

  /**
   * Servers are to be brought to weights, unless there are newer ones.
   *
   * @param loaded completes once a server has them, or newer ones
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

  /** Digests of the versions offered. */
  synchronized Map<WeightVersion, String> published() {
    return newest.published();
  }

  /**
   * A server draws with weights; gives those who waited for that. None if it came to be doubted on
   * the way: it may be another process by now, so it is looked at, and brought to them, once more.
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

  /** A server does not draw with weights; false if it has left, so that it is not ours to mend. */
  synchronized boolean updateFailed(Replica replica) {
    boolean ours = serves(replica);
    if (ours) {
      counts.updatesFailed++;
    }
    return ours;
  }

  // Groups.

  /** Groups that are not whole. */
  synchronized List<GroupRequest> openJobs() {
    return groups.all();
  }

  /** A group is to be sampled; false once closed. */
  synchronized boolean open(GroupRequest job) {
    if (!closed) {
      groups.add(job);
    }
    return !closed;
  }

  synchronized Optional<GroupRequest> job(LeaseId lease) {
    return groups.of(lease);
  }

  /** Parts that wait and for which a server is ready, as requests to those. */
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
    List<ReplicaRequest> errands = new ArrayList<>();
    for (GroupRequest.Part asked : can.get().drawsGroups() ? List.of(part) : part.singles()) {
      requests++;
      ReplicaRequest errand =
          ReplicaRequest.of(asked, chosen.get(), can.get(), weights.get(), policy, requests);
      errand.replica().reserve(errand.draw()); // before anybody can unload its adapter
      errands.add(errand);
    }
    return errands;
  }

  /** A request is under way; false if its group is over already. */
  synchronized boolean callBegan(GroupRequest job, StreamingCall call) {
    job.calls().add(call);
    return !job.answer().isDone();
  }

  synchronized void callEnded(GroupRequest job, StreamingCall call) {
    job.calls().remove(call);
  }

  /** A sound answer came; gives the group of its completions once that is whole. */
  synchronized Optional<List<Completion>> recordUsable(
      ReplicaRequest errand, Map<Integer, Completion> whole) {
    ended(errand, true);
    quarantines.remove(errand.replica().name());
    return take(errand, whole);
  }

  /** So much of a request that failed is whole; gives the group once that is. */
  synchronized Optional<List<Completion>> recordPartial(
      ReplicaRequest errand, Map<Integer, Completion> whole) {
    return take(errand, whole);
  }

  private Optional<List<Completion>> take(ReplicaRequest errand, Map<Integer, Completion> whole) {
    counts.completions += whole.size();
    return groups.take(errand.part().job(), whole);
  }

  /** A completion came that is not to be used. */
  synchronized void recordRefused(ReplicaRequest errand, CheckedCompletion.Refused why) {
    ended(errand, false);
    recordRefusedPartial(errand, why.reason());
    if (fleet.isOutOfService(errand.replica().name())) {
      quarantine(errand.replica(), why.toString());
    }
  }

  /** What came of a request that failed is not to be used. */
  synchronized void recordRefusedPartial(ReplicaRequest errand, CheckedCompletion.Reason reason) {
    counts.refused(reason);
    if (reason == CheckedCompletion.Reason.FOREIGN_WEIGHTS) {
      invalidateWeights(errand.replica()); // it was started anew, or somebody else updates it
    }
  }

  /** A request came to nothing, through no fault of its server. */
  synchronized void requestAbandoned(ReplicaRequest errand) {
    ended(errand, true);
  }

  /** A request failed at its server. */
  synchronized void requestFailed(ReplicaRequest errand, CallFailure fault) {
    ended(errand, !fault.speaksAgainstServer());
    if (fleet.isOutOfService(errand.replica().name())) {
      quarantine(errand.replica(), fault.toString());
    } else if (fault.mayBeRestart()) {
      invalidateWeights(errand.replica());
    }
  }

  private void ended(ReplicaRequest errand, boolean well) {
    fleet = fleet.ended(errand.replica().name(), errand.part().count(), well);
  }

  /** It may hold other weights by now: its attendant has to see to it. */
  synchronized void invalidateWeights(Replica replica) {
    replica.resetCapabilities();
    fleet = fleet.withoutWork(replica.name());
    notifyAll();
  }

  /** A part is asked for again, or gone on with, before all that wait. */
  synchronized void retryFirst(GroupRequest.Part part) {
    if (!part.job().answer().isDone()) {
      if (part.tries() == 0) {
        counts.drawnOn++;
      } else {
        counts.retries++;
      }
      groups.first(part);
    }
  }

  /**
   * A group is given up.
   *
   * @param failed false if somebody cancelled it
   * @return what is under way for it; none if it is over already
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

  // The whole.

  /** Takes nothing more. */
  synchronized Remainder close() {
    closed = true;
    notifyAll();
    return new Remainder(groups.all(), newest.unreached(), List.copyOf(replicas.keySet()));
  }

  /** How the fleet fares, on a line. */
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
