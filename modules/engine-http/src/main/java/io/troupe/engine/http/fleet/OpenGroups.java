package io.troupe.engine.http.fleet;

import static io.troupe.core.Require.require;

import io.troupe.core.rollout.Completion;
import io.troupe.core.rollout.LeaseId;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The groups asked of a fleet that are not whole, and the parts of them that wait for a server.
 * Guarded by the fleet's books.
 */
final class OpenGroups {
  private final Map<LeaseId, GroupRequest> open = new LinkedHashMap<>();
  private final Deque<GroupRequest.Part> waiting = new ArrayDeque<>();

  /** Gives a part to a server, if one is ready for it. */
  @FunctionalInterface
  interface RequestAssigner {
    /** The requests that it makes; none if the part has to wait. */
    List<ReplicaRequest> give(GroupRequest.Part part);
  }

  List<GroupRequest> all() {
    return List.copyOf(open.values());
  }

  Optional<GroupRequest> of(LeaseId lease) {
    return Optional.ofNullable(open.get(lease));
  }

  /** A group is to be sampled. */
  void add(GroupRequest job) {
    require(
        open.putIfAbsent(job.request().lease(), job) == null,
        "lease %s is being sampled already",
        job.request().lease());
    waiting.add(job.whole());
  }

  /** A group is over; false if it was. */
  boolean remove(GroupRequest job) {
    return open.remove(job.request().lease(), job);
  }

  /** Completions of a group came; gives all of its once it is whole. */
  Optional<List<Completion>> take(GroupRequest job, Map<Integer, Completion> whole) {
    Optional<List<Completion>> group = job.add(whole);
    if (group.isPresent()) {
      boolean _ = remove(job);
    }
    return group;
  }

  /** A part waits before all others. */
  void first(GroupRequest.Part part) {
    waiting.addFirst(part);
  }

  /** Offers each part that waits once; those of groups that are over are dropped. */
  List<ReplicaRequest> assign(RequestAssigner giver) {
    List<ReplicaRequest> errands = new ArrayList<>();
    for (int look = waiting.size(); look > 0; look--) {
      GroupRequest.Part part = waiting.remove();
      if (!part.job().answer().isDone()) {
        List<ReplicaRequest> given = giver.give(part);
        errands.addAll(given);
        if (given.isEmpty()) {
          waiting.add(part);
        }
      }
    }
    return errands;
  }

  /** Parts that wait. */
  int waiting() {
    return waiting.size();
  }
}
