package io.troupe.core.run;

import io.troupe.core.completion.TokenVersions;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.GroupSummary;
import io.troupe.core.rollout.StalePolicy;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.run.group.Group;
import io.troupe.core.weights.WeightVersion;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

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
    return stages(state)
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
    return buffered(state)
        .filter(
            group -> {
              WeightVersion decisive =
                  limits.step().stale() == StalePolicy.MASK ? newest(group) : oldest(group);
              return state.version().stalenessOf(decisive) > limits.step().maxStaleness();
            })
        .toList();
  }

  private static Stream<GroupSummary> buffered(RunState state) {
    return stages(state).map(Group.Buffered::summary);
  }

  private static Stream<Group.Buffered> stages(RunState state) {
    return state.groups().values().stream()
        .map(Group::stage)
        .filter(Group.Buffered.class::isInstance)
        .map(Group.Buffered.class::cast);
  }

  private static WeightVersion oldest(GroupSummary group) {
    return versions(group).min(Comparator.naturalOrder()).orElseThrow();
  }

  private static WeightVersion newest(GroupSummary group) {
    return versions(group).max(Comparator.naturalOrder()).orElseThrow();
  }

  private static Stream<WeightVersion> versions(GroupSummary group) {
    return group.versions().stream()
        .flatMap(completion -> completion.spans().stream())
        .map(TokenVersions.Span::version);
  }
}
