package io.troupe.telemetry.view;

import io.troupe.core.rollout.GroupSummary;
import java.util.List;

/** A group's life while it is written: the mutable side of {@link GroupRow}. */
final class GroupTimeline {
  final long group;
  final long prompt;
  final long epoch;
  final long admittedAt;
  String stage = "waiting";
  int attempts;
  String worker = "";
  long fence;
  long version = -1;
  long leasedAt;
  long sampledAt;
  long scoredAt;
  long endedAt;
  long since;
  long staleness = -1;
  long step;

  /** The number of steps that trained on the group. */
  int uses;

  String trouble = "";
  List<GroupSummary> answer = List.of();

  private final StageCounts counts;

  /** A group that waits, and counts as such. */
  GroupTimeline(long group, long prompt, long epoch, long at, StageCounts counts) {
    this.counts = counts;
    counts.add(stage);
    this.group = group;
    this.prompt = prompt;
    this.epoch = epoch;
    this.admittedAt = at;
    this.since = at;
  }

  void stage(String next, long at) {
    counts.remove(stage);
    counts.add(next);
    stage = next;
    since = at;
  }

  boolean leased() {
    return stage.equals("sampling") || stage.equals("verifying");
  }

  /** Notes that the group waits to be sampled again, and that what was sampled is void. */
  void requeued(String why, long at) {
    stage("waiting", at);
    trouble = why;
    attempts++;
    answer = List.of();
    sampledAt = 0;
    scoredAt = 0;
  }

  /** Notes that the group comes with its answer, from a checkpoint. */
  void holds(GroupSummary summary, String next, long at) {
    answer = List.of(summary);
    fence = summary.lease().fence();
    stage(next, at);
  }

  /** Notes that the group is over, and counts in no stage. */
  void end(String fate, long at) {
    counts.remove(stage);
    stage = fate;
    since = at;
    endedAt = at;
  }

  double reward() {
    return answer.stream()
        .flatMap(summary -> summary.rewards().stream())
        .mapToDouble(Double::doubleValue)
        .average()
        .orElse(0);
  }

  double spread() {
    double mean = reward();
    return Math.sqrt(
        answer.stream()
            .flatMap(summary -> summary.rewards().stream())
            .mapToDouble(reward -> (reward - mean) * (reward - mean))
            .average()
            .orElse(0));
  }

  long tokens() {
    return answer.stream().mapToLong(GroupSummary::tokens).sum();
  }

  GroupRow row() {
    return new GroupRow(
        group,
        prompt,
        epoch,
        stage,
        attempts,
        worker,
        fence,
        version,
        admittedAt,
        leasedAt,
        sampledAt,
        scoredAt,
        endedAt,
        answer.stream().flatMap(summary -> summary.rewards().stream()).toList(),
        reward(),
        spread(),
        tokens(),
        answer.stream().mapToLong(summary -> summary.oldest().number()).findFirst().orElse(-1),
        answer.stream().mapToLong(summary -> summary.newest().number()).findFirst().orElse(-1),
        staleness,
        step,
        answer.stream()
            .flatMap(summary -> summary.versions().stream())
            .map(
                versions ->
                    versions.spans().stream()
                        .map(span -> new GroupRow.Span(span.version().number(), span.tokens()))
                        .toList())
            .toList(),
        trouble);
  }
}
