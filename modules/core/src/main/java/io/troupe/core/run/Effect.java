package io.troupe.core.run;

import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.weights.WeightVersion;
import java.util.List;

/**
 * An action that the shell must take, in order, once the events of the same decision are
 * journalled.
 */
public sealed interface Effect {
  /**
   * Has a worker produce a group.
   *
   * @param prompt index in the training pool
   * @param draws number of times that the group was sampled before
   * @param version the worker samples the first token with it, or with a newer one
   */
  record Grant(
      LeaseId lease, WorkerId worker, int prompt, long epoch, int draws, WeightVersion version)
      implements Effect {}

  /** Has a worker stop work on a lease. */
  record Cancel(LeaseId lease, WorkerId worker) implements Effect {}

  /** Notifies a retired worker that it has no lease left and gets none. */
  record Release(WorkerId worker) implements Effect {}

  /** Has the trainer drop a group's tokens. */
  record Forget(LeaseId lease) implements Effect {}

  /** Has the trainer make a step from {@code from} on these groups. */
  record Train(long step, WeightVersion from, List<LeaseId> groups) implements Effect {
    public Train {
      groups = List.copyOf(groups);
    }
  }

  /** Announces new weights to all workers. */
  record Publish(WeightVersion version) implements Effect {}

  /** Measure the policy on the held-out prompts. */
  record Evaluate(long step, WeightVersion version) implements Effect {}

  /**
   * Save weights, optimizer, this state, and the tokens of its buffered groups.
   *
   * @param state the decision's own: nothing happens in a decision after its checkpoint
   * @param last whether the run ends once it is saved
   */
  record SaveCheckpoint(long step, RunState state, boolean last) implements Effect {}

  /** Stop a worker and start it again. */
  record RestartWorker(WorkerId worker) implements Effect {}

  /** Has a worker finish its groups and end. */
  record DrainWorker(WorkerId worker) implements Effect {}

  /** End the run. */
  record Stop(RunEnd end) implements Effect {}
}
