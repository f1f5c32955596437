package io.troupe.core.run;

import io.troupe.core.loss.LossTokens;
import io.troupe.core.rollout.GroupSummary;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.weights.WeightVersion;

/** What the coordinator is told. Any input may come late, twice, out of order, or never. */
public sealed interface Input {
  /** The trainer stands ready with the base weights, or with those of a checkpoint. */
  record Begin() implements Input {}

  /**
   * A worker can take more groups.
   *
   * @param total groups this worker has asked for since it started, those it already got included:
   *     a repeated or overtaken request changes nothing
   */
  record WorkRequested(WorkerId worker, long total) implements Input {}

  /** All completions of a group are drawn; they are being verified. */
  record GroupSampled(LeaseId lease) implements Input {}

  /** A scored group lies at the trainer. */
  record GroupScored(GroupSummary summary) implements Input {}

  /** A worker cannot answer a lease. */
  record GroupFailed(LeaseId lease, LeaseFailure failure) implements Input {}

  /** No verifier judges what was drawn under a lease; its worker keeps it and asks again. */
  record VerifierAway(LeaseId lease, String reason) implements Input {}

  /** A worker is gone, with all it was doing. */
  record WorkerLost(WorkerId worker) implements Input {}

  /** What the running step's loss is taken over, as in {@link Event.LossTokensCounted}. */
  record LossTokensCounted(long step, LossTokens lossTokens) implements Input {}

  /** A worker takes no new groups; it finishes those it has. */
  record WorkerRetired(WorkerId worker) implements Input {}

  /** A node's delivery of weights has gone wrong, as in {@link Event.NodeSkipped}. */
  record NodeSkipped(String node, WeightVersion version, String reason) implements Input {}

  /** A node that was skipped holds the newest weights again. */
  record NodeCaughtUp(String node, WeightVersion version) implements Input {}

  /** The trainer finished a step; its weights are ready to publish. */
  record StepTrained(long step) implements Input {}

  /**
   * The trainer left the weights as they were.
   *
   * @param empty whether no token had loss weight; otherwise the loss or a gradient was not finite
   */
  record StepSkipped(long step, String reason, boolean empty) implements Input {
    /** A step with a number that was not finite. */
    public StepSkipped(long step, String reason) {
      this(step, reason, false);
    }
  }

  /** A checkpoint is durable; {@code last} as in {@link Effect.SaveCheckpoint}. */
  record CheckpointSaved(long step, boolean last) implements Input {}

  /** Something the run cannot go on without is broken. */
  record Broken(String reason) implements Input {}

  /**
   * The policy was measured on the held-out prompts.
   *
   * @param accuracy share of right answers, in [0, 1]
   */
  record Evaluated(long step, double accuracy) implements Input {}

  /** Somebody asks the run to stop and to save everything. */
  record DrainRequested() implements Input {}

  /** An operator asks for something. */
  record Ordered(OperatorCommand verb, Attribution order) implements Input {}

  /** An operator asked for something that the shell cannot do: only the journal learns of it. */
  record InapplicableCommand(OperatorCommand verb, Attribution order, String reason)
      implements Input {}

  /** Time has passed. */
  record Tick() implements Input {}
}
