package io.troupe.core.run;

import io.troupe.core.prompt.PromptCursor;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.GroupSummary;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.run.group.LeaseEndReason;
import io.troupe.core.weights.WeightVersion;
import java.util.List;

/** An event, as the journal keeps it: the state is a fold over events. */
public sealed interface Event {
  /** An event that changes no state and only informs. */
  sealed interface Notice {}

  /** The run began from the base weights. */
  record RunStarted() implements Event {}

  /** The run continues from a checkpoint; every event after that checkpoint is undone. */
  record RunResumed(RunState state) implements Event {}

  /** A process works on the run from here on, and these facts decide the bits that it computes. */
  record ProcessStarted(ProcessFacts process) implements Event, Notice {}

  /**
   * The trainer has the weights of a version.
   *
   * @param digest of all tensors, in hex
   */
  record WeightsMade(WeightVersion version, String digest) implements Event, Notice {}

  /** A worker asked for more, as in {@link Input.DemandRaised}. */
  record DemandRaised(WorkerId worker, long total) implements Event {}

  /** The next prompt became a group. */
  record GroupAdmitted(GroupId group, int prompt, long epoch, PromptCursor cursor)
      implements Event, GroupEvent {}

  /** A worker got the right to produce a group. */
  record LeaseGranted(LeaseId lease, WorkerId worker, WeightVersion version, long deadlineMillis)
      implements Event, GroupEvent {}

  /** The completions of a lease are sampled; the verifiers have as long as the sampling had. */
  record LeaseSampled(LeaseId lease, long deadlineMillis) implements Event, GroupEvent {}

  /**
   * A lease ended without an accepted answer; its group waits to be sampled again.
   *
   * @param counts whether it uses up some of the prompt's attempts
   */
  record LeaseEnded(LeaseId lease, LeaseEndReason reason, String detail, boolean counts)
      implements Event, GroupEvent.Requeued {
    /** The end of a lease that counts if one of its kind can. */
    public LeaseEnded(LeaseId lease, LeaseEndReason reason, String detail) {
      this(lease, reason, detail, reason.chargeable());
    }
  }

  /**
   * The digests of the completions under a lease whose group is accepted or put aside next.
   *
   * @param digests one a completion, as {@link io.troupe.core.completion.CompletionDigest} makes
   *     them
   */
  record GroupDigested(LeaseId lease, List<String> digests) implements Event, Notice {
    public GroupDigested {
      digests = List.copyOf(digests);
    }
  }

  /** A scored group was accepted. */
  record GroupBuffered(GroupSummary summary) implements Event, GroupEvent {}

  /** A scored group was put aside: its rewards are all equal, it has nothing to teach. */
  record GroupFiltered(GroupSummary summary) implements Event, GroupEvent {}

  /** A buffered group became too stale; it waits to be sampled again. */
  record GroupStale(LeaseId lease) implements Event, GroupEvent.Requeued {
    @Override
    public LeaseEndReason reason() {
      return LeaseEndReason.STALE;
    }

    @Override
    public String detail() {
      return "too old to train on";
    }
  }

  /** A group was given up for this epoch. */
  record GroupFailed(GroupId group, String reason) implements Event, GroupEvent {}

  /** An answer came under a lease that had ended, or was not what its lease is about. */
  record AnswerRefused(LeaseId lease, String reason) implements Event {}

  /** A worker is gone. */
  record WorkerLost(WorkerId worker) implements Event {}

  /** A worker takes no new leases and finishes those it has. */
  record WorkerRetired(WorkerId worker) implements Event {}

  /**
   * The workers of a place have failed in a row and get no work, but for one group as a probe once
   * the pause is over; or that probe has failed.
   *
   * @param worker that failed last
   * @param failures in a row
   * @param reason of the last
   * @param untilMillis end of the pause, on the coordinator's clock as {@code atMillis} is
   */
  record WorkerSuspended(
      WorkerId worker, int failures, String reason, long atMillis, long untilMillis)
      implements Event {}

  /** A worker of a suspended place has sampled a group, so the place gets work again. */
  record WorkerResumed(WorkerId worker) implements Event {}

  /**
   * No verifier is there: nothing is granted, but for one group as a probe once the pause is over;
   * or that probe has failed.
   */
  record VerificationSuspended(String reason, long atMillis, long untilMillis) implements Event {}

  /** A group was judged again. */
  record VerificationResumed() implements Event {}

  /**
   * A node did not get weights in time, or delayed nodes that fetched from it: no node fetches from
   * it until it holds the newest weights again. The event comes once, not with every version that
   * the node lacks.
   */
  record NodeSkipped(String node, WeightVersion version, String reason) implements Event, Notice {}

  /** A node that was skipped holds the newest weights again. */
  record NodeCaughtUp(String node, WeightVersion version) implements Event, Notice {}

  /**
   * Trainer ranks were lost with the copies that the others need, so the ranks begin again from
   * their last saved state.
   *
   * @param steps that the ranks make again, from the same batches, before they continue
   */
  record RanksWentBack(long steps, String reason) implements Event, Notice {}

  /** A training step began on these groups, from the present version. */
  record StepStarted(long step, List<GroupId> groups) implements Event, GroupEvent {
    public StepStarted {
      groups = List.copyOf(groups);
    }
  }

  /**
   * The tokens that the running step's loss counted, by the trainer's count on the weights of the
   * loss: the proof of invariant S1, which {@code troupe audit} holds against the versions that the
   * step's groups came with.
   *
   * @param weighted completion tokens with loss weight
   * @param unweighted completion tokens without
   * @param stalenessMax greatest staleness of a token with loss weight, in versions
   * @param maxStaleness the bound the step was made under
   */
  record LossTokensCounted(
      long step, long weighted, long unweighted, long stalenessMax, long maxStaleness)
      implements Event, Notice {}

  /**
   * A step ended; its weights are the present version.
   *
   * @param kept groups of it that are buffered again, for another use; the others end as trained
   */
  record StepTrained(long step, List<GroupId> kept) implements Event, GroupEvent {
    public StepTrained {
      kept = List.copyOf(kept);
    }

    /** A step whose groups all end. */
    public StepTrained(long step) {
      this(step, List.of());
    }
  }

  /** A group that was kept for another use gets none; it ends as trained. */
  record GroupSpent(LeaseId lease) implements Event, GroupEvent {}

  /**
   * A step ended without moving the weights; its groups end, those that no step had trained on as
   * skipped.
   *
   * @param empty whether no token of it had loss weight; otherwise a number was not finite
   */
  record StepSkipped(long step, String reason, boolean empty) implements Event, GroupEvent {
    /** A step with a number that was not finite. */
    public StepSkipped(long step, String reason) {
      this(step, reason, false);
    }
  }

  /** Every completion of the last {@code groups} groups was right: nothing is left to learn. */
  record TaskMastered(long groups) implements Event, Notice {}

  /** An operator's order was carried out; what it changed follows as events of its own. */
  record OrderTaken(OperatorCommand verb, Attribution order) implements Event {}

  /** An operator's order could not be carried out; nothing changed. */
  record OrderRefused(OperatorCommand verb, Attribution order, String reason)
      implements Event, Notice {}

  /** An operator took a buffered group back; it waits to be sampled again. */
  record GroupWithdrawn(LeaseId lease) implements Event, GroupEvent.Requeued {
    @Override
    public LeaseEndReason reason() {
      return LeaseEndReason.CANCELLED;
    }

    @Override
    public String detail() {
      return "withdrawn by an operator";
    }
  }

  /** A checkpoint is durable. */
  record CheckpointSaved(long step) implements Event, Notice {}

  /** No lease is granted and no step starts any more; {@code end} follows. */
  record DrainStarted(long deadlineMillis, RunEnd end) implements Event {}

  /** The run ends, and all work but the last checkpoint is done. */
  record SavingStarted(RunEnd end) implements Event {}

  /** The run is over. */
  record RunEnded(RunEnd end) implements Event {}
}
