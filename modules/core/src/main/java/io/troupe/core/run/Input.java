package io.troupe.core.run;

import io.troupe.core.rollout.GroupSummary;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.train.LossTokens;
import io.troupe.core.weights.WeightVersion;
import java.util.List;

/**
 * An input on which the coordinator decides. An input may come late, twice, out of order, or never;
 * the decision on it is right in each case.
 */
public sealed interface Input {
  /** A report of a rollout worker. Only these inputs come from other JVMs. */
  sealed interface FromWorker extends Input {}

  /** An order of an operator; the decision holds the answer. */
  sealed interface FromOperator extends Input {}

  /** The trainer is ready with the base weights, or with those of a checkpoint. */
  record Begin() implements Input {}

  /**
   * A worker can take more groups.
   *
   * @param total groups that this worker has asked for since it started, including those it got: a
   *     repeated or overtaken request changes nothing
   */
  record DemandRaised(WorkerId worker, long total) implements FromWorker {}

  /** All completions of a group are sampled; the verifiers judge them now. */
  record GroupSampled(LeaseId lease) implements FromWorker {}

  /**
   * The trainer holds the tokens of a scored group.
   *
   * @param digests one a completion, as {@link io.troupe.core.completion.CompletionDigest} makes
   *     them; none where nothing was sampled
   */
  record GroupScored(GroupSummary summary, List<String> digests) implements Input {
    public GroupScored {
      digests = List.copyOf(digests);
    }

    /** A group without tokens. */
    public GroupScored(GroupSummary summary) {
      this(summary, List.of());
    }
  }

  /** A process has what it needs to work on the run. */
  record ProcessStarted(ProcessFacts process) implements Input {}

  /** The trainer has the weights of a version, as in {@link Event.WeightsMade}. */
  record WeightsMade(WeightVersion version, String digest) implements Input {}

  /** A lease gets no scored group. */
  record GroupFailed(LeaseId lease, LeaseFailure failure) implements FromWorker {}

  /**
   * No verifier judges the completions of a lease; the worker keeps them and asks the verifiers
   * again.
   */
  record VerifierAway(LeaseId lease, String reason) implements FromWorker {}

  /** A worker has ended, and its leases cannot be answered. */
  record WorkerLost(WorkerId worker) implements FromWorker {}

  /** The tokens that the loss of the running step counts, as in {@link Event.LossTokensCounted}. */
  record LossTokensCounted(long step, LossTokens lossTokens) implements Input {}

  /** A worker takes no new groups, finishes those it has, and waits for its release. */
  record WorkerRetired(WorkerId worker) implements FromWorker {}

  /** A version of the weights has not reached a node, as in {@link Event.NodeSkipped}. */
  record NodeSkipped(String node, WeightVersion version, String reason) implements Input {}

  /** A node that was skipped holds the newest weights again. */
  record NodeCaughtUp(String node, WeightVersion version) implements Input {}

  /** Trainer ranks begin again from their last saved state, as in {@link Event.RanksWentBack}. */
  record RanksWentBack(long steps, String reason) implements Input {}

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

  /** A part that the run needs has failed for good. */
  record Broken(String reason) implements Input {}

  /**
   * The policy was measured on the held-out prompts.
   *
   * @param score of the run's target: a share that passes, or a mean reward
   */
  record Evaluated(long step, double score) implements Input {}

  /** A signal asks the run to stop and to save everything. */
  record DrainRequested() implements Input {}

  /** An operator orders a command. */
  record Ordered(OperatorCommand verb, Attribution order) implements FromOperator {}

  /** An operator ordered a command that the shell cannot carry out; the journal keeps that, too. */
  record InapplicableCommand(OperatorCommand verb, Attribution order, String reason)
      implements FromOperator {}

  /** Time has passed. */
  record Tick() implements Input {}

  /**
   * No worker is there.
   *
   * @param sinceMillis time at which the last worker was there, or the run began to want one
   */
  record WorkersMissing(long sinceMillis) implements Input {}
}
