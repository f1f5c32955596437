package io.troupe.core.run;

import static io.troupe.core.Require.invariant;

import io.troupe.core.advantage.Advantages;
import io.troupe.core.outage.CircuitBreaker;
import io.troupe.core.outage.Outages;
import io.troupe.core.prompt.PromptSampling;
import io.troupe.core.rollout.Admission;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.GroupSize;
import io.troupe.core.rollout.GroupSummary;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.StalePolicy;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.run.group.Group;
import io.troupe.core.run.group.LeaseEndReason;
import io.troupe.core.run.group.Ledger;
import io.troupe.core.train.LearningRateSchedule;
import io.troupe.core.train.LossTokens;
import io.troupe.core.weights.WeightVersion;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The coordinator of a run, as a pure function: (state, input, time) to (events, effects).
 *
 * @param limits the settings it decides by
 */
public record Coordination(RunLimits limits) {
  /*
   * The same function serves the actors, the replay of a journal, the simulator and the property
   * tests. It guarantees:
   *
   *   S1  A step never contains a group without a trainable token (MASK) or with a stale one (DROP,
   *       WAIT); StalenessBound then zeroes what is stale inside the groups of a step.
   *   S2  Every admitted group ends exactly once: trained, filtered, skipped or failed. An answer
   *       counts only under the lease that is current; any other is refused and counted. Several
   *       steps may train on a group, up to the limit; one that was trained on ends as trained.
   *   S3  If workers answer, batches form: what ends badly waits first in line and leases expire.
   *       What infrastructure fails costs no prompt: breakers hold work back from workers that fail
   *       in a row, and from all of them while no verifier is there. A group that no step has
   *       trained on goes before one that waits for another use. A run that can only filter,
   *       skip, give up or wait for what has failed ends with a reason instead of spinning, and
   *       none that trained nothing is completed.
   *   S4  All of it follows from the state alone, which is a fold over the journal.
   *
   * What a lease that ends costs its prompt:
   *
   *   the prompt or a completion cannot be done   an attempt
   *   it expires, or is lost with its worker      half of one
   *   the engine, a server or the weights fail    a tenth of one
   *   the agent, or what its tools act in, fails  a tenth of one
   *   no verifier judges the completions          nothing
   *
   * Halves and tenths are for a prompt that ends its worker, or that a server never takes. They
   * count only if the worker's place had sampled a group since its last failure: otherwise the
   * place is to blame. So a place in doubt is probed with the groups that were tried least, and the
   * one exception is for when there are no others: once every group that is left was tried twice,
   * and probes are as far apart as they get, expiries and losses count.
   *
   * Every input is handled in two movements: first what it says, then `settle`, which starts
   * whatever the new state allows. Nothing is started anywhere else.
   *
   * A checkpoint ends its decision: its state is the fold of the journal up to that decision's end,
   * which is the position it is saved with, so a resume that reads on from there misses nothing. An
   * input that brings a checkpoint is therefore not settled: the next input is, for which the shell
   * sends a tick at once.
   */

  private static final int MAX_SKIPPED_IN_A_ROW = 3;

  /** Failures in a row that suspend a worker; one or two may be an accident. */
  private static final int FAILURES_THAT_SUSPEND = 3;

  /**
   * A process grants fewer, so the next multiple of it is beyond every fence of the process before,
   * also of those whose grants were lost with the power of the host before an fsync. A run can be
   * resumed nine million times before fences leave the integers that a double holds exactly.
   */
  private static final long FENCES_OF_A_PROCESS = 1_000_000_000L;

  /** A group that was sampled more often may itself be at fault, so it is no probe. */
  private static final int MOST_DRAWS_OF_A_PROBE = 1;

  /**
   * The answer to an input.
   *
   * @param nowMillis on a clock that never goes back
   */
  public Decision decide(RunState state, Input input, long nowMillis) {
    Draft draft = new Draft(state, nowMillis);
    if (!(state.phase() instanceof Phase.Ended)) {
      draft.receive(input);
      if (!draft.saves) {
        draft.advance();
      }
      draft.releaseRetired();
    }
    return new Decision(draft.events, draft.effects, draft.state);
  }

  /**
   * Returns the first record of a new process in the journal of an older one: it undoes the work of
   * the older process until {@link #resume} names the checkpoint from which the run continues. The
   * record must be fsynced before the first grant, because the fences of the next process start
   * from it.
   *
   * @param lastFence the greatest fencing number in the journal
   */
  public Decision resetJournal(long lastFence) {
    RunState fenced = RunState.INITIAL.fence(beyond(lastFence));
    return new Decision(List.of(new Event.RunResumed(fenced)), List.of(), fenced);
  }

  /**
   * The first event of a run that continues from a checkpoint: leases of the former process are
   * void, its workers and its clock are gone, and everything else is as in the checkpoint.
   *
   * @param lastFence the greatest fencing number in the journal, also after the checkpoint: fences
   *     are never granted twice, so no answer from before can pass for a new one
   */
  public Decision resume(RunState checkpoint, long lastFence) {
    Draft draft = new Draft(checkpoint, 0);
    draft
        .state
        .leases()
        .toList()
        .forEach(held -> draft.end(held.lease(), LeaseEndReason.CANCELLED, ""));
    RunState cleared = draft.state;
    RunState resumed =
        new RunState(
            new Phase.Running(),
            cleared.version(),
            cleared.cursor(),
            cleared.groups(),
            RunState.INITIAL.workers(),
            beyond(Math.max(cleared.lastFence(), lastFence)),
            cleared.streaks(),
            Outages.NONE,
            cleared.ledger(),
            cleared.passRates(),
            cleared.controls().resumed(limits));
    Draft begin = new Draft(checkpoint, 0);
    begin.emit(new Event.RunResumed(resumed));
    begin.effects.add(new Effect.Publish(resumed.version()));
    begin.advance();
    return new Decision(begin.events, begin.effects, begin.state);
  }

  /** Returns the first fence of a process start that follows one with this fence. */
  private static long beyond(long lastFence) {
    return (lastFence / FENCES_OF_A_PROCESS + 1) * FENCES_OF_A_PROCESS;
  }

  /** One decision in the making: the only mutable thing here, and it never leaves this file. */
  private final class Draft {
    private final long now;
    private final List<Event> events = new ArrayList<>();
    private final List<Effect> effects = new ArrayList<>();

    /** Workers that had a lease which ended in this decision. */
    private final Set<WorkerId> freed = new LinkedHashSet<>();

    /** Outages before the input: a failure in it cannot blame a worker that comes with it. */
    private final Outages before;

    private RunState state;

    /** Whether anything may be too stale that was not when the buffer was last swept. */
    private boolean aged;

    /** Whether a checkpoint is saved, after which nothing may happen in this decision. */
    private boolean saves;

    /** Groups buffered since then; each may have been too stale when it came. */
    private final List<Group.Buffered> arrived = new ArrayList<>();

    Draft(RunState state, long now) {
      this.state = state;
      this.before = state.outages();
      this.now = now;
    }

    void emit(Event event) {
      invariant(!saves, "%s comes after a checkpoint of the same decision", event);
      events.add(event);
      state = state.evolve(event);
      aged |= changesStaleness(event);
      if (event instanceof Event.GroupBuffered(GroupSummary summary)) {
        arrived.add(new Group.Buffered(summary));
      }
    }

    /** Whether an event changes the staleness of buffered groups: only a newer version does. */
    private static boolean changesStaleness(Event event) {
      return event instanceof Event.StepTrained
          || event instanceof Event.RunStarted
          || event instanceof Event.RunResumed;
    }

    void receive(Input input) {
      switch (input) {
        case Input.Begin _ -> onBegin();
        case Input.DemandRaised(WorkerId worker, long total) -> onDemandRaised(worker, total);
        case Input.GroupSampled(LeaseId lease) -> onGroupSampled(lease);
        case Input.GroupScored(GroupSummary summary, List<String> digests) ->
            onGroupScored(summary, digests);
        case Input.ProcessStarted(ProcessFacts process) -> emit(new Event.ProcessStarted(process));
        case Input.WeightsMade(WeightVersion version, String digest) ->
            emit(new Event.WeightsMade(version, digest));
        case Input.GroupFailed(LeaseId lease, LeaseFailure failure) ->
            onGroupFailed(lease, failure);
        case Input.VerifierAway(LeaseId lease, String reason) -> onVerifierAway(lease, reason);
        case Input.WorkerLost(WorkerId worker) -> onWorkerLost(worker);
        case Input.LossTokensCounted(long step, LossTokens tokens) ->
            onLossTokensCounted(step, tokens);
        case Input.WorkerRetired(WorkerId worker) -> onWorkerRetired(worker);
        case Input.NodeSkipped(String node, WeightVersion version, String reason) ->
            emit(new Event.NodeSkipped(node, version, reason));
        case Input.NodeCaughtUp(String node, WeightVersion version) ->
            emit(new Event.NodeCaughtUp(node, version));
        case Input.RanksWentBack(long steps, String reason) ->
            emit(new Event.RanksWentBack(steps, reason));
        case Input.StepTrained(long step) -> onStepTrained(step);
        case Input.StepSkipped skipped -> onStepSkipped(skipped);
        case Input.CheckpointSaved(long step, boolean last) -> onCheckpointSaved(step, last);
        case Input.Broken(String reason) -> stop(new RunEnd.Failed(reason));
        case Input.Evaluated(long step, double accuracy) -> onEvaluated(step, accuracy);
        case Input.DrainRequested _ -> onDrainRequested();
        case Input.Ordered(OperatorCommand verb, Attribution order) -> onOrdered(verb, order);
        case Input.InapplicableCommand(OperatorCommand verb, Attribution order, String reason) ->
            emit(new Event.OrderRefused(verb, order, reason));
        case Input.Tick _ -> onTick();
        case Input.WorkersMissing(long since) -> onWorkersMissing(since);
      }
    }

    private void onBegin() {
      if (state.phase() instanceof Phase.Starting) {
        emit(new Event.RunStarted());
        checkpoint(false);
        effects.add(new Effect.Publish(WeightVersion.BASE));
        if (limits.schedule().evaluateEvery() > 0) {
          effects.add(new Effect.Evaluate(0, WeightVersion.BASE));
        }
      }
    }

    private void onDemandRaised(WorkerId worker, long total) {
      Worker known = state.workers().get(worker);
      if (known == null || !known.present() || total > known.asked()) {
        emit(new Event.DemandRaised(worker, total));
      }
    }

    private void onGroupSampled(LeaseId lease) {
      // A group that grows is sampled in parts, each with the time of a lease.
      Optional<Group.Leased> held =
          state.lease(lease).filter(leased -> !leased.sampled() || limits.groups().size().grows());
      if (held.isPresent()) {
        emit(new Event.LeaseSampled(lease, now + limits.groups().leaseMillis()));
        resume(held.get().worker());
      }
    }

    private void onGroupScored(GroupSummary answer, List<String> digests) {
      GroupSummary summary = answer.by(limits.groups().mark());
      Optional<String> objection = objectionTo(summary);
      if (objection.isPresent()) {
        emit(new Event.AnswerRefused(summary.lease(), objection.get()));
        if (!inUse(summary.lease())) {
          effects.add(new Effect.Forget(summary.lease()));
        }
        return;
      }
      WorkerId worker = state.lease(summary.lease()).orElseThrow().worker();
      free(summary.lease());
      if (!digests.isEmpty()) {
        emit(new Event.GroupDigested(summary.lease(), digests));
      }
      if (isFiltered(summary)) {
        emit(new Event.GroupFiltered(summary));
        effects.add(new Effect.Forget(summary.lease()));
      } else {
        emit(new Event.GroupBuffered(summary));
      }
      resume(worker);
      if (state.outages().verifiers().open()) {
        emit(new Event.VerificationResumed());
      }
    }

    private boolean isFiltered(GroupSummary summary) {
      return (limits.groups().filterDegenerate() && degenerate(summary))
          || (limits.groups().filterPerfect() && summary.perfect());
    }

    private Optional<String> objectionTo(GroupSummary summary) {
      Optional<Group.Leased> held = state.lease(summary.lease());
      if (held.isEmpty()) {
        return Optional.of("its lease has ended");
      }
      GroupSize size = limits.groups().size();
      if (!size.accepts(summary.rewards())) {
        return Optional.of(
            size.grows()
                ? "it has %d completions, where its rewards end a group of another size"
                    .formatted(summary.rewards().size())
                : "it has %d completions, not %d".formatted(summary.rewards().size(), size.part()));
      }
      if (summary.newest().compareTo(state.version()) > 0) {
        return Optional.of(
            "it claims tokens of %s, and the newest weights are %s"
                .formatted(summary.newest(), state.version()));
      }
      if (summary.oldest().compareTo(held.get().version()) < 0) {
        return Optional.of(
            "it has tokens of %s, and its lease asks for %s or newer"
                .formatted(summary.oldest(), held.get().version()));
      }
      return Optional.empty();
    }

    /** A repeated answer must not take away the tokens that its first copy brought. */
    private boolean inUse(LeaseId lease) {
      Group group = state.groups().get(lease.group());
      return group != null
          && switch (group.stage()) {
            case Group.Buffered(GroupSummary held, int _) -> held.lease().equals(lease);
            case Group.Training(GroupSummary held, int _) -> held.lease().equals(lease);
            case Group.Waiting _, Group.Leased _ -> false;
          };
    }

    private void onGroupFailed(LeaseId lease, LeaseFailure failure) {
      if (state.lease(lease).isEmpty()) {
        emit(new Event.AnswerRefused(lease, "its lease has ended"));
        return;
      }
      end(
          lease,
          switch (failure) {
            case LeaseFailure.OfPrompt _ -> LeaseEndReason.FAILED;
            case LeaseFailure.OfEngine _ -> LeaseEndReason.ENGINE_FAILED;
            case LeaseFailure.OfEnvironment _ -> LeaseEndReason.ENVIRONMENT_FAILED;
            case LeaseFailure.OfVerifier _ -> LeaseEndReason.VERIFIER_AWAY;
          },
          failure.reason());
    }

    private void onVerifierAway(LeaseId lease, String reason) {
      if (state.lease(lease).isPresent()) {
        suspendVerification(reason);
      }
    }

    private void onWorkerLost(WorkerId worker) {
      Worker known = state.workers().get(worker);
      if (known == null) {
        return;
      }
      if (known.present()) {
        emit(new Event.WorkerLost(worker));
      }
      String why = worker + " is gone";
      state
          .leases()
          .filter(held -> held.worker().equals(worker))
          .toList()
          .forEach(held -> end(held.lease(), LeaseEndReason.WORKER_LOST, why));
      suspend(worker, why);
      freed.remove(worker);
    }

    private void onWorkerRetired(WorkerId worker) {
      if (present(worker)) {
        emit(new Event.WorkerRetired(worker));
        freed.add(worker);
      }
    }

    private void free(LeaseId lease) {
      state.lease(lease).ifPresent(held -> freed.add(held.worker()));
    }

    /**
     * A worker that has delivered its last group and left at once could be missed before the group
     * arrives, which takes another way; its lease would end as lost, and the group be refused.
     */
    private void releaseRetired() {
      for (WorkerId worker : freed) {
        if (!state.workers().containsKey(worker)) {
          effects.add(new Effect.Release(worker));
        }
      }
    }

    private boolean present(WorkerId worker) {
      Worker known = state.workers().get(worker);
      return known != null && known.present();
    }

    private void onLossTokensCounted(long step, LossTokens tokens) {
      if (step == state.version().number() + 1 && state.runsStep()) {
        emit(
            new Event.LossTokensCounted(
                step,
                tokens.weighted(),
                tokens.unweighted(),
                tokens.stalenessMax(),
                limits.step().maxStaleness()));
      }
    }

    private void onStepTrained(long step) {
      if (step != state.version().number() + 1 || !state.runsStep()) {
        return;
      }
      List<GroupId> kept = new ArrayList<>();
      List<LeaseId> spent = new ArrayList<>();
      for (Group.Training group : state.trainingStages()) {
        LeaseId lease = group.summary().lease();
        if (canBeUsedAgain(group)) {
          kept.add(lease.group());
        } else {
          spent.add(lease);
        }
      }
      boolean asked = state.controls().checkpointAsked();
      emit(new Event.StepTrained(step, kept));
      spent.forEach(lease -> effects.add(new Effect.Forget(lease)));
      effects.add(new Effect.Publish(state.version()));
      sweep();
      boolean last = step >= limits.schedule().steps();
      if (limits.schedule().evaluateEvery() > 0
          && (step % limits.schedule().evaluateEvery() == 0 || last)) {
        effects.add(new Effect.Evaluate(step, state.version()));
      }
      boolean due =
          limits.schedule().checkpointEvery() > 0
              && step % limits.schedule().checkpointEvery() == 0;
      if ((due || asked) && !last) {
        checkpoint(false);
      }
    }

    /** Whether a group may be in a step from the version that the running one makes. */
    private boolean canBeUsedAgain(Group.Training group) {
      return group.uses() + 1 < limits.step().uses()
          && !limits
              .bound()
              .tooStale(group.summary(), limits.step().stale(), state.version().next());
    }

    private void onStepSkipped(Input.StepSkipped skipped) {
      long step = skipped.step();
      if (step != state.version().number() + 1 || !state.runsStep()) {
        return;
      }
      List<LeaseId> spent = trainingLeases();
      boolean asked = state.controls().checkpointAsked();
      emit(new Event.StepSkipped(step, skipped.reason(), skipped.empty()));
      spent.forEach(lease -> effects.add(new Effect.Forget(lease)));
      if (asked) {
        checkpoint(false);
      }
    }

    private void onCheckpointSaved(long step, boolean last) {
      emit(new Event.CheckpointSaved(step));
      if (last && state.phase() instanceof Phase.Saving(RunEnd end)) {
        emit(new Event.RunEnded(end));
        effects.add(new Effect.Stop(end));
      }
    }

    private void onDrainRequested() {
      if (state.phase() instanceof Phase.Running) {
        drain(new RunEnd.Interrupted());
      } else if (state.phase() instanceof Phase.Starting) {
        stop(new RunEnd.Interrupted());
      }
    }

    private void onOrdered(OperatorCommand verb, Attribution order) {
      Optional<String> objection = objectionTo(verb);
      if (objection.isPresent()) {
        emit(new Event.OrderRefused(verb, order, objection.get()));
        return;
      }
      emit(new Event.OrderTaken(verb, order));
      switch (verb) {
        case OperatorCommand.RequeueGroup(GroupId group) -> withdraw(group, order);
        case OperatorCommand.CancelGroup(GroupId group) -> cancel(group, order);
        case OperatorCommand.SaveCheckpoint _ -> {
          if (!state.controls().checkpointAsked()) {
            checkpoint(false);
          }
        }
        case OperatorCommand.RestartWorker(WorkerId worker) ->
            effects.add(new Effect.RestartWorker(worker));
        case OperatorCommand.DrainWorker(WorkerId worker) ->
            effects.add(new Effect.DrainWorker(worker));
        case OperatorCommand.Drain _ -> onDrainRequested();
        case OperatorCommand.PauseAdmission _,
            OperatorCommand.ResumeAdmission _,
            OperatorCommand.LimitConcurrency _,
            OperatorCommand.ForShell _ -> {}
      }
    }

    private Optional<String> objectionTo(OperatorCommand verb) {
      boolean running = state.phase() instanceof Phase.Running;
      return switch (verb) {
        case OperatorCommand.PauseAdmission _ when state.controls().paused() ->
            Optional.of("admission is paused already");
        case OperatorCommand.ResumeAdmission _ when !state.controls().paused() ->
            Optional.of("admission is not paused");
        case OperatorCommand.LimitConcurrency(int groups)
            when groups > limits.groups().maxConcurrent() ->
            Optional.of(
                "the run was planned for at most %d concurrent groups"
                    .formatted(limits.groups().maxConcurrent()));
        case OperatorCommand.RestartWorker(WorkerId worker)
            when !state.workers().containsKey(worker) || !state.workers().get(worker).present() ->
            Optional.of("no worker %s is there".formatted(worker));
        case OperatorCommand.DrainWorker(WorkerId worker) -> objectionToDrain(worker);
        case OperatorCommand.RequeueGroup(GroupId group) -> objectionTo(group, true);
        case OperatorCommand.CancelGroup(GroupId group) -> objectionTo(group, false);
        case OperatorCommand.SaveCheckpoint _,
            OperatorCommand.PauseAdmission _,
            OperatorCommand.ResumeAdmission _
            when !running ->
            Optional.of("the run is not under way: it starts, drains or ends");
        case OperatorCommand.Drain _ when !running && !(state.phase() instanceof Phase.Starting) ->
            Optional.of("the run drains already");
        case OperatorCommand.PauseAdmission _,
            OperatorCommand.ResumeAdmission _,
            OperatorCommand.LimitConcurrency _,
            OperatorCommand.RestartWorker _,
            OperatorCommand.SaveCheckpoint _,
            OperatorCommand.Drain _,
            OperatorCommand.ForShell _ ->
            Optional.empty();
      };
    }

    private Optional<String> objectionToDrain(WorkerId worker) {
      if (!present(worker)) {
        return Optional.of("no worker %s is there".formatted(worker));
      }
      return state.workers().values().stream().filter(Worker::present).count() == 1
          ? Optional.of(
              "%s is the last worker, and the run would stop; drain the run instead"
                  .formatted(worker))
          : Optional.empty();
    }

    private Optional<String> objectionTo(GroupId id, boolean requeue) {
      Group group = state.groups().get(id);
      if (group == null) {
        return Optional.of("%s is not a live group: it ended, or never was".formatted(id));
      }
      return switch (group.stage()) {
        case Group.Training _ -> Optional.of("%s is in the step that runs".formatted(id));
        case Group.Waiting _ ->
            requeue
                ? Optional.of("%s waits to be sampled already".formatted(id))
                : Optional.empty();
        case Group.Buffered ready when requeue && ready.uses() > 0 ->
            Optional.of("%s was trained; cancel it to end it without another use".formatted(id));
        case Group.Leased _, Group.Buffered _ -> Optional.empty();
      };
    }

    private void cancel(GroupId id, Attribution order) {
      if (state.group(id).stage() instanceof Group.Buffered ready && ready.uses() > 0) {
        spend(ready.summary().lease());
      } else {
        withdraw(id, order);
        emit(new Event.GroupFailed(id, "cancelled by " + order.by()));
      }
    }

    private void spend(LeaseId lease) {
      emit(new Event.GroupSpent(lease));
      effects.add(new Effect.Forget(lease));
    }

    /** Takes a group from its worker or out of the buffer, so that it waits to be sampled again. */
    private void withdraw(GroupId id, Attribution order) {
      switch (state.group(id).stage()) {
        case Group.Leased held -> {
          effects.add(new Effect.Cancel(held.lease(), held.worker()));
          free(held.lease());
          emit(
              new Event.LeaseEnded(
                  held.lease(), LeaseEndReason.CANCELLED, "ordered by " + order.by()));
        }
        case Group.Buffered(GroupSummary summary, int _) -> {
          effects.add(new Effect.Forget(summary.lease()));
          emit(new Event.GroupWithdrawn(summary.lease()));
        }
        case Group.Waiting _, Group.Training _ -> {}
      }
    }

    private void onEvaluated(long step, double score) {
      if (state.phase() instanceof Phase.Running
          && step > 0
          && limits.schedule().evaluationTarget() != 0
          && score >= limits.schedule().evaluationTarget()) {
        drain(new RunEnd.Completed());
      }
    }

    private void drain(RunEnd end) {
      emit(new Event.DrainStarted(now + limits.schedule().drainMillis(), end));
    }

    private void onTick() {
      state
          .leases()
          .filter(held -> now >= held.deadlineMillis())
          .toList()
          .forEach(
              held -> {
                effects.add(new Effect.Cancel(held.lease(), held.worker()));
                expire(held);
              });
    }

    private void onWorkersMissing(long since) {
      long missing = now - since;
      if (state.phase() instanceof Phase.Running
          && missing >= limits.outages().timeoutMillis()
          && !state.controls().paused()
          && !state.runsStep()) {
        save(
            new RunEnd.Failed(
                "no worker has been there for %d s (rollout.outage_timeout); look at the logs of"
                        .formatted(missing / 1000)
                    + " workers and nodes"));
      }
    }

    /** A pool ends what a completion does to a verifier, so one that does not answer is away. */
    private void expire(Group.Leased held) {
      if (held.sampled()) {
        end(
            held.lease(),
            LeaseEndReason.VERIFIER_AWAY,
            "%s was not judged within %d ms"
                .formatted(held.lease(), limits.groups().leaseMillis()));
      } else {
        end(
            held.lease(),
            LeaseEndReason.EXPIRED,
            "%s did not answer within %d ms"
                .formatted(held.worker(), limits.groups().leaseMillis()));
      }
    }

    private List<LeaseId> trainingLeases() {
      return state
          .inTraining()
          .map(group -> ((Group.Training) group.stage()).summary().lease())
          .toList();
    }

    /** Ends a lease, and gives the group up when that was one time too many. */
    private void end(LeaseId lease, LeaseEndReason reason, String detail) {
      WorkerId worker = state.lease(lease).orElseThrow().worker();
      free(lease);
      boolean counts = isChargedToPrompt(lease.group(), reason, worker);
      emit(new Event.LeaseEnded(lease, reason, detail, counts));
      switch (reason) {
        case EXPIRED, ENGINE_FAILED, ENVIRONMENT_FAILED -> suspend(worker, detail);
        case VERIFIER_AWAY -> suspendVerification(detail);
        case WORKER_LOST, FAILED, STALE, CANCELLED -> {}
      }
      Group group = state.group(lease.group());
      if (counts && group.attemptsUsed() >= limits.prompts().maxAttempts()) {
        emit(new Event.GroupFailed(lease.group(), group.account() + detail));
      }
    }

    private boolean isChargedToPrompt(GroupId group, LeaseEndReason reason, WorkerId worker) {
      return switch (reason) {
        case FAILED -> true;
        case ENGINE_FAILED, ENVIRONMENT_FAILED -> hasNoFailures(worker);
        case EXPIRED, WORKER_LOST ->
            hasNoFailures(worker) || (atLongestPause(worker) && onlySuspectsLeft(group));
        case VERIFIER_AWAY, STALE, CANCELLED -> false;
      };
    }

    private boolean hasNoFailures(WorkerId worker) {
      return before.breakerOf(worker).failures() == 0;
    }

    private boolean atLongestPause(WorkerId worker) {
      return before.breakerOf(worker).pauseMillis() >= limits.outages().longestPauseMillis();
    }

    /** Whether no other group is left that could show whose fault a failure is. */
    private boolean onlySuspectsLeft(GroupId failed) {
      return exhausted()
          && state.group(failed).draws() > MOST_DRAWS_OF_A_PROBE
          && state.waiting().noneMatch(group -> group.draws() <= MOST_DRAWS_OF_A_PROBE);
    }

    /** Opens the breaker before a worker's place, if it is time. */
    private void suspend(WorkerId worker, String reason) {
      CircuitBreaker breaker = state.outages().breakerOf(worker);
      if (breaker.failures() >= FAILURES_THAT_SUSPEND && breaker.mayOpen(now)) {
        emit(
            new Event.WorkerSuspended(
                worker,
                breaker.failures(),
                reason,
                now,
                now + breaker.nextPause(now, limits.outages())));
      }
    }

    private void resume(WorkerId worker) {
      if (state.outages().breakerOf(worker).open()) {
        emit(new Event.WorkerResumed(worker));
      }
    }

    private void suspendVerification(String reason) {
      CircuitBreaker breaker = state.outages().verifiers();
      if (breaker.mayOpen(now)) {
        emit(
            new Event.VerificationSuspended(
                reason, now, now + breaker.nextPause(now, limits.outages())));
      }
    }

    private void stop(RunEnd end) {
      emit(new Event.RunEnded(end));
      effects.add(new Effect.Stop(end));
    }

    private void advance() {
      switch (state.phase()) {
        case Phase.Running _ -> {
          sweep();
          if (mastered()) {
            emit(new Event.TaskMastered(state.streaks().perfect()));
            save(new RunEnd.Completed());
          } else if (cannotProgress().isPresent()) {
            stop(new RunEnd.Failed(cannotProgress().get()));
          } else if (outage().isPresent()) {
            save(new RunEnd.Failed(outage().get()));
          } else if (finished()) {
            save(completion());
          } else {
            startStep();
            grant();
          }
        }
        case Phase.Draining(long deadline, RunEnd end) -> {
          if (now >= deadline) {
            cancelLeases("the run drains");
          }
          if (state.leaseCount() == 0 && !state.runsStep()) {
            save(end);
          }
        }
        case Phase.Starting _, Phase.Saving _, Phase.Ended _ -> {}
      }
    }

    private void save(RunEnd end) {
      cancelLeases("the run ends");
      emit(new Event.SavingStarted(end));
      checkpoint(true);
    }

    private void checkpoint(boolean last) {
      effects.add(new Effect.SaveCheckpoint(state.version().number(), state, last));
      saves = true;
    }

    private void cancelLeases(String why) {
      state
          .leases()
          .toList()
          .forEach(
              held -> {
                effects.add(new Effect.Cancel(held.lease(), held.worker()));
                end(held.lease(), LeaseEndReason.CANCELLED, why);
              });
    }

    /** Sends back what no step may train on any more, so that the buffer holds only fuel. */
    private void sweep() {
      List<Group.Buffered> suspects = aged ? state.ready().toList() : List.copyOf(arrived);
      arrived.clear();
      for (Group.Buffered group : suspects) {
        if (limits.bound().tooStale(group.summary(), limits.step().stale(), state.version())) {
          LeaseId lease = group.summary().lease();
          if (group.uses() > 0) {
            spend(lease);
          } else {
            emit(new Event.GroupStale(lease));
            effects.add(new Effect.Forget(lease));
          }
        }
      }
      if (aged) {
        aged = false;
        cancelStaleLeases();
      }
    }

    private void cancelStaleLeases() {
      if (limits.step().stale() == StalePolicy.DROP) {
        state
            .leases()
            .filter(
                held -> state.version().stalenessOf(held.version()) > limits.step().maxStaleness())
            .toList()
            .forEach(
                held -> {
                  effects.add(new Effect.Cancel(held.lease(), held.worker()));
                  end(held.lease(), LeaseEndReason.STALE, "granted at " + held.version());
                });
      }
    }

    /** A policy that has moved, and is right in all that it was asked of late. */
    private boolean mastered() {
      return state.version().number() > 0
          && state.streaks().perfect() >= limits.groups().maxFilteredInARow()
          && !state.runsStep();
    }

    private Optional<String> cannotProgress() {
      Streaks streaks = state.streaks();
      boolean allPerfect = streaks.perfect() >= streaks.filtered();
      if (streaks.filtered() >= limits.groups().maxFilteredInARow()
          && !(allPerfect && state.version().number() > 0)) {
        return Optional.of(
            allPerfect
                ? "every completion of the last %d groups was right, so there is nothing to learn:"
                        .formatted(streaks.filtered())
                    + " the task is too easy for this policy"
                : "the last %d groups all had equal rewards, so there is nothing to learn from: the"
                        .formatted(streaks.filtered())
                    + " task is too hard or too easy for this policy; lengthen the warm-up, change"
                    + " the task, or raise training.max_filtered_groups");
      }
      if (streaks.skipped() >= MAX_SKIPPED_IN_A_ROW) {
        return Optional.of(
            "%d steps in a row were skipped, the last because %s; %s and resume from the last checkpoint"
                .formatted(
                    streaks.skipped(), streaks.lastReason(), LearningRateSchedule.LOWER_RATE));
      }
      if (streaks.empty() * limits.step().groups() >= limits.groups().maxFilteredInARow()) {
        return Optional.of(
            "%d steps in a row had nothing to learn from: %s"
                .formatted(streaks.empty(), streaks.lastReason()));
      }
      if (streaks.givenUp() >= limits.prompts().size()) {
        return Optional.of(
            "the last %d prompts were all given up, the last because %s"
                .formatted(streaks.givenUp(), streaks.lastReason()));
      }
      return Optional.empty();
    }

    /**
     * Returns the reason to end the run because nothing has succeeded for too long, if that is so.
     */
    private Optional<String> outage() {
      Outages outages = state.outages();
      long since = outages.failingSince();
      boolean over =
          since != Outages.NOT_FAILING
              && now - since >= limits.outages().timeoutMillis()
              && !state.controls().paused()
              && !state.runsStep()
              && (outages.verifiers().open() || !anyWithoutFailures());
      return over
          ? Optional.of(
              "nothing has succeeded for %d s (rollout.outage_timeout), the last failure: %s"
                  .formatted((now - since) / 1000, outages.lastReason()))
          : Optional.empty();
    }

    private boolean anyWithoutFailures() {
      return state.workers().entrySet().stream()
          .anyMatch(
              entry ->
                  entry.getValue().present() && !state.outages().breakerOf(entry.getKey()).open());
    }

    /** Returns the end of a run whose steps, or whose prompts, are used up. */
    private RunEnd completion() {
      if (state.version().number() > 0) {
        return new RunEnd.Completed();
      }
      Ledger ledger = state.ledger();
      return new RunEnd.Failed(
          "no step moved the weights: of %d groups %d were given up, %d filtered, and %d in skipped"
                  .formatted(
                      ledger.admitted(), ledger.failed(), ledger.filtered(), ledger.skipped())
              + " steps"
              + (state.streaks().lastReason().isEmpty()
                  ? ""
                  : "; the last reason: " + state.streaks().lastReason()));
    }

    private boolean finished() {
      return !state.runsStep()
          && (state.version().number() >= limits.schedule().steps()
              || (exhausted() && state.groups().isEmpty()));
    }

    private boolean exhausted() {
      return limits.schedule().epochs() > 0 && state.cursor().epoch() >= limits.schedule().epochs();
    }

    private void startStep() {
      if (state.runsStep()) {
        return;
      }
      boolean rest = exhausted() && !state.hasWaiting() && state.leaseCount() == 0;
      if (state.bufferedCount() == 0
          || (state.bufferedCount() < limits.step().groups() && !rest)
          || (limits.step().lockStep() && state.leaseCount() > 0)) {
        return;
      }
      // No group loses its first use to the second use of another.
      List<GroupSummary> ready =
          state
              .ready()
              .sorted(
                  Comparator.comparingInt(Group.Buffered::uses)
                      .thenComparing(group -> group.summary().oldest())
                      .thenComparing(group -> group.summary().lease().group()))
              .limit(limits.step().groups())
              .map(Group.Buffered::summary)
              .toList();
      if (!mustWaitForOlderGroups(ready)) {
        long step = state.version().number() + 1;
        // Tokens reach the trainer in this order: the order of groups, not of their arrival.
        List<GroupSummary> batch =
            ready.stream().sorted(Comparator.comparing(group -> group.lease().group())).toList();
        effects.add(
            new Effect.Train(
                step, state.version(), batch.stream().map(GroupSummary::lease).toList()));
        emit(
            new Event.StepStarted(
                step, batch.stream().map(group -> group.lease().group()).toList()));
      }
    }

    /**
     * Whether a step on {@code batch} would strand other groups. A group of version s can still be
     * trained by the steps that start from versions up to s + eta, B groups each; so, earliest
     * deadline first, the groups left that are as old as s must fit into those steps. It is not
     * enough to look at the next step alone: younger groups overtaking several old ones that are
     * under lease would then strand one of them, and the run would hold for ever.
     */
    private boolean mustWaitForOlderGroups(List<GroupSummary> batch) {
      if (limits.step().stale() != StalePolicy.WAIT) {
        return false;
      }
      long after = state.version().number() + 1;
      Set<LeaseId> trained = batch.stream().map(GroupSummary::lease).collect(Collectors.toSet());
      long[] left =
          Stream.concat(
                  state.leases().map(Group.Leased::version),
                  state
                      .ready()
                      .filter(group -> group.uses() == 0)
                      .map(Group.Buffered::summary)
                      .filter(group -> !trained.contains(group.lease()))
                      .map(GroupSummary::oldest))
              .mapToLong(WeightVersion::number)
              .sorted()
              .toArray();
      for (int i = 0; i < left.length; i++) {
        long stepsLeft = left[i] + limits.step().maxStaleness() - after + 1;
        if (i + 1 > stepsLeft * limits.step().groups()) {
          return true;
        }
      }
      return false;
    }

    private void grant() {
      if (state.controls().paused()) {
        return;
      }
      long running = state.leaseCount();
      if (limits.step().lockStep() && (running > 0 || state.runsStep())) {
        return;
      }
      long capacity = capacity(running);
      CircuitBreaker verifiers = state.outages().verifiers();
      if (verifiers.open()) {
        // Groups under lease reach the verifiers by themselves, and are probes as good as any.
        capacity = verifiers.probes(now) && running == 0 ? Math.min(capacity, 1) : 0;
      }
      while (capacity > 0) {
        Optional<WorkerId> probed = dueForProbe();
        Optional<WorkerId> taker = probed.or(this::mostDemand);
        boolean probe = probed.isPresent() || verifiers.open();
        Optional<GroupId> group = taker.flatMap(_ -> probe ? leastDrawn() : nextGroup());
        if (group.isEmpty()) {
          return;
        }
        lease(group.get(), taker.orElseThrow());
        capacity--;
      }
    }

    private long capacity(long running) {
      int uses = limits.step().uses();
      // The steps that are left use a group that begins now at most this often.
      int usable =
          (int) Math.clamp(limits.schedule().steps() - state.version().number(), 1L, (long) uses);
      return Math.min(
          Admission.capacity(
              state.controls().concurrency() > 0
                  ? state.controls().concurrency()
                  : limits.groups().maxConcurrent(),
              running,
              state.accepted(uses),
              state.version().number(),
              limits.step().groups(),
              limits.step().maxStaleness(),
              uses),
          // No group is begun that no remaining step could train on.
          Math.floorDiv(
              limits.totalUses() - state.accepted(usable) - usable * running, (long) usable));
    }

    private void lease(GroupId group, WorkerId worker) {
      LeaseId lease = new LeaseId(group, state.lastFence() + 1);
      emit(
          new Event.LeaseGranted(
              lease, worker, state.version(), now + limits.groups().leaseMillis()));
      Group admitted = state.group(group);
      effects.add(
          new Effect.Grant(
              lease,
              worker,
              admitted.prompt(),
              admitted.epoch(),
              admitted.draws(),
              state.version()));
    }

    /** The trusted worker with the most unmet demand; ties go to the first by name. */
    private Optional<WorkerId> mostDemand() {
      return state
          .demanding()
          .filter(worker -> !state.outages().breakerOf(worker).open())
          .findFirst();
    }

    /** The first suspended worker that is due for a probe; a lease that it still has is one. */
    private Optional<WorkerId> dueForProbe() {
      if (state.outages().places().isEmpty()
          || state.outages().places().values().stream().noneMatch(place -> place.probes(now))) {
        return Optional.empty();
      }
      return state
          .demanding()
          .filter(worker -> state.worker(worker).leases() == 0)
          .filter(worker -> state.outages().breakerOf(worker).probes(now))
          .min(Comparator.naturalOrder());
    }

    private Optional<GroupId> nextGroup() {
      return state.hasWaiting() ? state.waiting().map(Group::id).findFirst() : admitted();
    }

    /** For a probe: a group that says more of who is probed than of itself. */
    private Optional<GroupId> leastDrawn() {
      Optional<Group> waiting = state.waiting().min(Comparator.comparingInt(Group::draws));
      return waiting
          .filter(group -> group.draws() <= MOST_DRAWS_OF_A_PROBE || exhausted())
          .map(Group::id)
          .or(this::admitted);
    }

    private Optional<GroupId> admitted() {
      if (exhausted()) {
        return Optional.empty();
      }
      GroupId id = new GroupId(state.ledger().admitted() + 1);
      PromptSampling.Choice choice =
          limits
              .prompts()
              .sampling()
              .next(
                  limits.prompts().seed(),
                  limits.prompts().size(),
                  limits.groups().size().most(),
                  state.cursor(),
                  state.passRates());
      emit(new Event.GroupAdmitted(id, choice.prompt(), state.cursor().epoch(), choice.next()));
      return Optional.of(id);
    }

    private boolean degenerate(GroupSummary summary) {
      double[] rewards = new double[summary.rewards().size()];
      for (int i = 0; i < rewards.length; i++) {
        rewards[i] = summary.rewards().get(i);
      }
      return Advantages.degenerate(rewards);
    }
  }
}
