package io.troupe.core.audit;

import static io.troupe.core.SplitMix64.mix;

import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.GroupSummary;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.run.group.Group;
import io.troupe.core.weights.WeightVersion;

/**
 * A group that was admitted and has not ended, as the audit knows it.
 *
 * @param prompt index in the training pool
 * @param charges failures of it that count
 */
record AuditedGroup(GroupId id, int prompt, long epoch, int charges, Stage place) {
  /** The stage of a group. */
  sealed interface Stage {}

  /** No worker works on the group. */
  record Waiting() implements Stage {}

  /** A worker has the right to produce it. */
  record Leased(LeaseId lease, WorkerId worker, WeightVersion version) implements Stage {}

  /**
   * The group is scored and waits for a step.
   *
   * @param content hash of the summary
   * @param uses steps that trained on it
   */
  record Buffered(GroupSummary summary, int content, int uses) implements Stage {
    Buffered(GroupSummary summary, int uses) {
      this(summary, summary.hashCode(), uses);
    }
  }

  /** The group is in the running step, with the hash that it was buffered with. */
  record Training(GroupSummary summary, int content, int uses) implements Stage {
    Training(GroupSummary summary, int uses) {
      this(summary, summary.hashCode(), uses);
    }
  }

  /** The group of a state's books. */
  static AuditedGroup of(Group group) {
    Stage place =
        switch (group.stage()) {
          case Group.Waiting() -> new Waiting();
          case Group.Leased(var lease, var worker, var version, var _, var _) ->
              new Leased(lease, worker, version);
          case Group.Buffered(GroupSummary summary, int uses) -> new Buffered(summary, uses);
          case Group.Training(GroupSummary summary, int uses) -> new Training(summary, uses);
        };
    int charges = group.attempts() + group.losses() + group.outages();
    return new AuditedGroup(group.id(), group.prompt(), group.epoch(), charges, place);
  }

  AuditedGroup at(Stage next) {
    return new AuditedGroup(id, prompt, epoch, charges, next);
  }

  AuditedGroup charged() {
    return new AuditedGroup(id, prompt, epoch, charges + 1, place);
  }

  boolean isLeasedTo(WorkerId worker) {
    return place instanceof Leased(var _, var holder, var _) && holder.equals(worker);
  }

  /**
   * A number that distinguishes this group after a resume, which voids leases: one under lease and
   * one that waits are the same.
   */
  long fingerprint() {
    long stage =
        switch (place) {
          case Waiting _, Leased _ -> 1;
          case Buffered(GroupSummary _, int content, int uses) -> scored(2, content, uses);
          case Training(GroupSummary _, int content, int uses) -> scored(3, content, uses);
        };
    return mix(mix(mix(mix(id.number()) + prompt * 31L + epoch) + stage) + charges);
  }

  private static long scored(long stage, int content, int uses) {
    return (stage + 4L * uses) << 32 | (content & 0xffffffffL);
  }

  /** The group, as a violation names it. */
  String where() {
    return switch (place) {
      case Waiting _ -> "waiting";
      case Leased(var lease, var worker, var _) -> "under lease " + lease + " of " + worker.value();
      case Buffered(GroupSummary summary, int _, int _) -> "buffered under " + summary.lease();
      case Training(GroupSummary summary, int _, int _) -> "in training under " + summary.lease();
    };
  }
}
