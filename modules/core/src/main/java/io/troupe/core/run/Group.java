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
 * @param attempts leases so far that expired or failed
 * @param losses leases so far that were lost with their worker
 */
public record Group(GroupId id, int prompt, long epoch, int attempts, int losses, Stage stage) {
  /**
   * A worker is seldom killed by what it works on, and it takes all its groups along; so it needs
   * more deaths than failures before a prompt is suspected.
   */
  private static final int LOSSES_AN_ATTEMPT = 2;

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
    return new Group(id, prompt, epoch, attempts, losses, next);
  }

  /** The group after a lease of it ended without an accepted answer. */
  Group after(LeaseEnd reason) {
    return switch (reason) {
      case EXPIRED, FAILED -> new Group(id, prompt, epoch, attempts + 1, losses, stage);
      case WORKER_LOST -> new Group(id, prompt, epoch, attempts, losses + 1, stage);
      case STALE, CANCELLED -> this;
    };
  }

  /** What counts towards the limit at which its prompt is given up. */
  int attemptsUsed() {
    return attempts + losses / LOSSES_AN_ATTEMPT;
  }
}
