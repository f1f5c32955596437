package io.troupe.core.audit;

import static io.troupe.core.SplitMix64.mix;

import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.GroupSummary;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.run.Group;
import io.troupe.core.weights.WeightVersion;

/**
 * A group that was admitted and has not ended, as the audit knows it.
 *
 * @param prompt index in the training pool
 * @param charges failures of it that count
 */
record Pending(GroupId id, int prompt, long epoch, int charges, Place place) {
  /** Where it is. */
  sealed interface Place {}

  /** Nobody works on it. */
  record Waiting() implements Place {}

  /** A worker has the right to produce it. */
  record Leased(LeaseId lease, WorkerId worker, WeightVersion version) implements Place {}

  /** It is scored and waits for a step. */
  record Buffered(GroupSummary summary) implements Place {}

  /** It is in the running step. */
  record Training(GroupSummary summary) implements Place {}

  /** The group of a state's books. */
  static Pending of(Group group) {
    Place place =
        switch (group.stage()) {
          case Group.Waiting() -> new Waiting();
          case Group.Leased(var lease, var worker, var version, var _, var _) ->
              new Leased(lease, worker, version);
          case Group.Buffered(GroupSummary summary) -> new Buffered(summary);
          case Group.Training(GroupSummary summary) -> new Training(summary);
        };
    int charges = group.attempts() + group.losses() + group.outages();
    return new Pending(group.id(), group.prompt(), group.epoch(), charges, place);
  }

  Pending at(Place next) {
    return new Pending(id, prompt, epoch, charges, next);
  }

  Pending charged() {
    return new Pending(id, prompt, epoch, charges + 1, place);
  }

  boolean isLeasedTo(WorkerId worker) {
    return place instanceof Leased(var _, var holder, var _) && holder.equals(worker);
  }

  /**
   * A number that tells this group apart after a resume, which voids leases: one under lease and
   * one that waits are the same.
   */
  long fingerprint() {
    long content =
        switch (place) {
          case Waiting _, Leased _ -> 1;
          case Buffered(GroupSummary summary) -> 2L << 32 | (summary.hashCode() & 0xffffffffL);
          case Training(GroupSummary summary) -> 3L << 32 | (summary.hashCode() & 0xffffffffL);
        };
    return mix(mix(mix(mix(id.number()) + prompt * 31L + epoch) + content) + charges);
  }

  /** In words, for a violation. */
  String where() {
    return switch (place) {
      case Waiting _ -> "waiting";
      case Leased(var lease, var worker, var _) -> "under lease " + lease + " of " + worker.value();
      case Buffered(GroupSummary summary) -> "buffered under " + summary.lease();
      case Training(GroupSummary summary) -> "in training under " + summary.lease();
    };
  }
}
