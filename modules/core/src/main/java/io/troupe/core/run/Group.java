package io.troupe.core.run;

import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.GroupSummary;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.weights.WeightVersion;

/**
 * An admitted group that has not ended.
 *
 * @param prompt index in the training pool
 * @param epoch of the admission
 * @param attempts leases that ended badly so far
 */
public record Group(GroupId id, int prompt, long epoch, int attempts, Stage stage) {
  /** Where a live group is. */
  public sealed interface Stage {}

  /** Waiting to be sampled again, first in line. */
  public record Waiting() implements Stage {}

  /**
   * Under lease.
   *
   * @param version published when the lease was granted: no token will be older
   * @param deadlineMillis on the coordinator's monotonic clock
   * @param sampled whether only verification is left
   */
  public record Leased(
      LeaseId lease, WorkerId worker, WeightVersion version, long deadlineMillis, boolean sampled)
      implements Stage {}

  /** Scored and ready to train on. */
  public record Buffered(GroupSummary summary) implements Stage {}

  /** In the step that is running. */
  public record Training(GroupSummary summary) implements Stage {}

  Group at(Stage next) {
    return new Group(id, prompt, epoch, attempts, next);
  }

  Group blamed() {
    return new Group(id, prompt, epoch, attempts + 1, stage);
  }
}
