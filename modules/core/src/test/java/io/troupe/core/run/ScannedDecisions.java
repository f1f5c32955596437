package io.troupe.core.run;

import io.troupe.core.completion.TokenVersions;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.GroupSummary;
import io.troupe.core.rollout.StalePolicy;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.run.group.Group;
import io.troupe.core.weights.WeightVersion;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The coordinator's indexed choices, made by scans of the whole state: of all workers, of all live
 * groups, and of all spans of their tokens. The oracle of the indexes.
 */
record ScannedDecisions(RunLimits limits) {
  /** The worker that a lease granted in this state and at this time goes to. */
  Optional<WorkerId> worker(RunState state, long now) {
    return dueForProbe(state, now).or(() -> mostDemand(state));
  }

  private static Optional<WorkerId> mostDemand(RunState state) {
    return state.workers().entrySet().stream()
        .filter(entry -> entry.getValue().demand() > 0)
        .filter(entry -> !state.outages().place(entry.getKey().place()).open())
        .max(
            Comparator.comparingLong(
                    (Map.Entry<WorkerId, Worker> entry) -> entry.getValue().demand())
                .thenComparing(Map.Entry.comparingByKey(Comparator.reverseOrder())))
        .map(Map.Entry::getKey);
  }

  private static Optional<WorkerId> dueForProbe(RunState state, long now) {
    return state.workers().entrySet().stream()
        .filter(entry -> entry.getValue().demand() > 0 && entry.getValue().leases() == 0)
        .map(Map.Entry::getKey)
        .filter(worker -> state.outages().place(worker.place()).probes(now))
        .findFirst();
  }

  /** The groups of a step from this state: of the buffer's least used the oldest, by number. */
  List<GroupId> batch(RunState state) {
    return buffered(state).stream()
        .sorted(
            Comparator.comparingInt(Group.Buffered::uses)
                .thenComparing(group -> oldest(group.summary()))
                .thenComparing(group -> group.summary().lease().group()))
        .limit(limits.step().groups())
        .map(group -> group.summary().lease().group())
        .sorted()
        .toList();
  }

  /** The buffered groups that no step from this state may train on, by number. */
  List<GroupSummary> tooStale(RunState state) {
    List<GroupSummary> stale = new ArrayList<>();
    for (Group.Buffered buffered : buffered(state)) {
      GroupSummary group = buffered.summary();
      WeightVersion decisive =
          limits.step().stale() == StalePolicy.MASK ? newest(group) : oldest(group);
      if (state.version().stalenessOf(decisive) > limits.step().maxStaleness()) {
        stale.add(group);
      }
    }
    return stale;
  }

  /** Loops here and below: a property asks six million times. */
  private static List<Group.Buffered> buffered(RunState state) {
    List<Group.Buffered> buffered = new ArrayList<>();
    for (Group group : state.groups().values()) {
      if (group.stage() instanceof Group.Buffered stage) {
        buffered.add(stage);
      }
    }
    return buffered;
  }

  private static WeightVersion oldest(GroupSummary group) {
    WeightVersion oldest = group.versions().getFirst().spans().getFirst().version();
    for (TokenVersions completion : group.versions()) {
      for (TokenVersions.Span span : completion.spans()) {
        oldest = span.version().compareTo(oldest) < 0 ? span.version() : oldest;
      }
    }
    return oldest;
  }

  private static WeightVersion newest(GroupSummary group) {
    WeightVersion newest = group.versions().getFirst().spans().getFirst().version();
    for (TokenVersions completion : group.versions()) {
      for (TokenVersions.Span span : completion.spans()) {
        newest = span.version().compareTo(newest) > 0 ? span.version() : newest;
      }
    }
    return newest;
  }
}
