package io.troupe.engine.http.fleet;

import static io.troupe.core.Require.require;

import io.troupe.core.completion.Completion;
import io.troupe.core.rollout.LeaseId;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The groups of a fleet that are not complete, and their parts that wait for a replica. Guarded by
 * the lock of {@link FleetState}.
 */
final class OpenGroups {
  private final Map<LeaseId, GroupRequest> open = new LinkedHashMap<>();
  private final Deque<GroupRequest.Part> waiting = new ArrayDeque<>();

  /** Assigns a part to a replica, if a replica is ready for it. */
  @FunctionalInterface
  interface RequestAssigner {
    /** The requests for the part; empty if the part has to wait. */
    List<ReplicaRequest> give(GroupRequest.Part part);
  }

  List<GroupRequest> all() {
    return List.copyOf(open.values());
  }

  Optional<GroupRequest> of(LeaseId lease) {
    return Optional.ofNullable(open.get(lease));
  }

  /** Opens a group to sample. */
  void add(GroupRequest job) {
    require(
        open.putIfAbsent(job.request().lease(), job) == null,
        "lease %s is being sampled already",
        job.request().lease());
    waiting.add(job.whole());
  }

  /** Closes a group; false if it was closed already. */
  boolean remove(GroupRequest job) {
    return open.remove(job.request().lease(), job);
  }

  /** Adds completions of a group; returns all of its completions once the group is complete. */
  Optional<List<Completion>> take(GroupRequest job, Map<Integer, Completion> whole) {
    Optional<List<Completion>> group = job.add(whole);
    if (group.isPresent()) {
      boolean _ = remove(job);
    }
    return group;
  }

  /** Puts a part before all waiting parts. */
  void first(GroupRequest.Part part) {
    waiting.addFirst(part);
  }

  /** Offers each waiting part once; parts of closed groups are dropped. */
  List<ReplicaRequest> assign(RequestAssigner giver) {
    List<ReplicaRequest> requests = new ArrayList<>();
    for (int look = waiting.size(); look > 0; look--) {
      GroupRequest.Part part = waiting.remove();
      if (!part.job().answer().isDone()) {
        List<ReplicaRequest> given = giver.give(part);
        requests.addAll(given);
        if (given.isEmpty()) {
          waiting.add(part);
        }
      }
    }
    return requests;
  }

  /** Returns the number of parts that wait. */
  int waiting() {
    return waiting.size();
  }
}
