package io.troupe.core.run.group;

import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.GroupSummary;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.weights.WeightVersion;
import java.util.StringJoiner;

/**
 * An admitted group that has not ended.
 *
 * @param prompt index in the training pool
 * @param epoch of the admission
 * @param attempts leases so far that failed for the prompt's own sake
 * @param losses leases so far that expired, or were lost with their worker, and that count
 * @param outages leases so far that an engine failed and that count
 * @param draws leases that ended so far, without cancelled ones: each samples with a seed of its
 *     own
 */
public record Group(
    GroupId id,
    int prompt,
    long epoch,
    int attempts,
    int losses,
    int outages,
    int draws,
    Stage stage) {
  /*
   * A prompt is given up when its attempts are used up. A failure of the prompt is an attempt. A
   * failure that the worker may have caused counts less, and only if the worker had sampled another
   * group since its last failure: a group seldom kills its worker, and a worker that dies loses all
   * its groups; an engine or a server that fails now and then fails for every prompt.
   */
  private static final int LOSSES_AN_ATTEMPT = 2;
  private static final int OUTAGES_AN_ATTEMPT = 10;

  /** The stage of a live group. */
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

  /**
   * Scored and ready to train on.
   *
   * @param uses steps that trained on it so far
   */
  public record Buffered(GroupSummary summary, int uses) implements Stage {
    /** A group that no step has trained on. */
    public Buffered(GroupSummary summary) {
      this(summary, 0);
    }
  }

  /**
   * In the step that is running.
   *
   * @param uses steps that trained on it before this one
   */
  public record Training(GroupSummary summary, int uses) implements Stage {
    /** A group that no step has trained on. */
    public Training(GroupSummary summary) {
      this(summary, 0);
    }
  }

  /** Returns a new group, which waits for its first lease. */
  public static Group admitted(GroupId id, int prompt, long epoch) {
    return new Group(id, prompt, epoch, 0, 0, 0, 0, new Waiting());
  }

  /** Returns this group in another stage. */
  public Group at(Stage next) {
    return new Group(id, prompt, epoch, attempts, losses, outages, draws, next);
  }

  /** The group after a lease of it ended without an accepted answer. */
  public Group after(LeaseEndReason reason, boolean counts) {
    int more = counts ? 1 : 0;
    return switch (reason) {
      case FAILED ->
          new Group(id, prompt, epoch, attempts + more, losses, outages, draws + 1, stage);
      case EXPIRED, WORKER_LOST ->
          new Group(id, prompt, epoch, attempts, losses + more, outages, draws + 1, stage);
      case ENGINE_FAILED, ENVIRONMENT_FAILED ->
          new Group(id, prompt, epoch, attempts, losses, outages + more, draws + 1, stage);
      case VERIFIER_AWAY, STALE -> drawn();
      case CANCELLED -> this;
    };
  }

  /** The group after its sampled completions were dropped. */
  public Group drawn() {
    return new Group(id, prompt, epoch, attempts, losses, outages, draws + 1, stage);
  }

  /**
   * Returns the failures that counted against the prompt, up to the last one, which the caller
   * names.
   */
  public String account() {
    StringJoiner parts = new StringJoiner(", ", "", ", the last: ");
    part(parts, attempts, "%d attempts failed");
    part(parts, losses, "%d expired or were lost with their worker");
    part(parts, outages, "%d were failed by an engine");
    return parts.toString();
  }

  private static void part(StringJoiner parts, int count, String words) {
    if (count > 0) {
      parts.add(words.formatted(count));
    }
  }

  /** Returns the attempts that count towards the limit at which the prompt is given up. */
  public int attemptsUsed() {
    return attempts + losses / LOSSES_AN_ATTEMPT + outages / OUTAGES_AN_ATTEMPT;
  }
}
