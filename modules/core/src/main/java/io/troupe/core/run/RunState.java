package io.troupe.core.run;

import static io.troupe.core.Require.invariant;

import io.troupe.core.PersistentMap;
import io.troupe.core.outage.Outages;
import io.troupe.core.prompt.PassRate;
import io.troupe.core.prompt.PromptCursor;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.GroupSummary;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.run.group.Group;
import io.troupe.core.run.group.LeaseEndReason;
import io.troupe.core.run.group.Ledger;
import io.troupe.core.run.group.LiveGroups;
import io.troupe.core.weights.WeightVersion;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.stream.Stream;

/**
 * The state of the coordinator as a value: the fold of {@link #evolve} over the journal.
 *
 * <p>Nothing here decides. A group is in {@code groups} from its admission to its end, in exactly
 * one stage, and every transition moves the ledger with it: that is what makes invariant S2,
 * exactly once, a matter of arithmetic ({@link #balanced}).
 *
 * @param version steps trained, and the newest published weights
 * @param cursor next prompt to admit
 * @param groups admitted groups that have not ended
 * @param workers present workers, and absent ones that still hold leases
 * @param lastFence greatest fencing number granted
 * @param streaks events in a row
 * @param outages failures of the infrastructure
 * @param passRates measured rates of each prompt, where prompts are chosen by difficulty
 * @param controls settings of the operators
 */
public record RunState(
    Phase phase,
    WeightVersion version,
    PromptCursor cursor,
    SortedMap<GroupId, Group> groups,
    SortedMap<WorkerId, Worker> workers,
    long lastFence,
    Streaks streaks,
    Outages outages,
    Ledger ledger,
    SortedMap<Integer, PassRate> passRates,
    Controls controls) {
  /** Before anything happened. */
  public static final RunState INITIAL =
      new RunState(
          new Phase.Starting(),
          WeightVersion.BASE,
          PromptCursor.START,
          LiveGroups.NONE,
          KnownWorkers.NONE,
          0,
          Streaks.NONE,
          Outages.NONE,
          Ledger.EMPTY,
          PersistentMap.empty(),
          Controls.NONE);

  public RunState {
    groups = LiveGroups.of(groups);
    passRates = PersistentMap.of(passRates);
    workers = KnownWorkers.of(workers);
  }

  /**
   * The state after an event. Total over the events a coordinator emits; refuses impossible ones.
   */
  public RunState evolve(Event event) {
    return switch (event) {
      case Event.RunStarted _ -> phase(new Phase.Running());
      case Event.RunResumed(RunState checkpoint) -> checkpoint;
      case Event.DemandRaised(WorkerId id, long total) -> worker(id, worker(id).withDemand(total));
      case Event.GroupAdmitted(GroupId id, int prompt, long epoch, PromptCursor next) ->
          group(Group.admitted(id, prompt, epoch)).cursor(next).ledger(ledger.admit());
      case Event.LeaseGranted(var lease, var worker, var granted, var deadline) ->
          group(group(lease.group()).at(new Group.Leased(lease, worker, granted, deadline, false)))
              .worker(worker, worker(worker).withGrant())
              .fence(lease.fence())
              .ledger(ledger.grant());
      case Event.LeaseSampled(LeaseId lease, long deadline) -> {
        Group.Leased held = leased(lease);
        yield group(
                group(lease.group())
                    .at(new Group.Leased(lease, held.worker(), held.version(), deadline, true)))
            .outages(outages.worked(held.worker()));
      }
      case Event.LeaseEnded(LeaseId lease, LeaseEndReason reason, String _, boolean counts) -> {
        WorkerId holder = leased(lease).worker();
        Group waiting = group(lease.group()).at(new Group.Waiting());
        boolean speaks = reason.speaksAgainstPlace();
        yield group(waiting.after(reason, counts))
            .ledger(ledger.end(reason))
            .worker(holder, worker(holder).withLeaseEnded())
            .outages(speaks ? outages.failed(holder.place()) : outages);
      }
      case Event.GroupBuffered(GroupSummary summary) -> {
        WorkerId holder = leased(summary.lease()).worker();
        yield measured(summary)
            .group(group(summary.lease().group()).at(new Group.Buffered(summary)))
            .streaks(streaks.accept())
            .answeredBy(holder);
      }
      case Event.GroupFiltered(GroupSummary summary) -> {
        WorkerId holder = leased(summary.lease()).worker();
        yield measured(summary)
            .without(summary.lease().group())
            .ledger(ledger.filter())
            .streaks(streaks.filter(summary))
            .answeredBy(holder);
      }
      case Event.GroupStale(LeaseId lease) ->
          group(group(lease.group()).drawn().at(new Group.Waiting()))
              .ledger(ledger.end(LeaseEndReason.STALE));
      case Event.GroupFailed(GroupId id, String reason) ->
          without(id).ledger(ledger.giveUp()).streaks(streaks.giveUp(reason));
      case Event.AnswerRefused _ -> ledger(ledger.refuse());
      case Event.WorkerLost(WorkerId id) -> {
        Worker gone = worker(id);
        yield worker(id, gone.markedAbsent())
            .outages(gone.leases() > 0 ? outages.failed(id.place()) : outages);
      }
      case Event.WorkerSuspended(WorkerId id, int _, String reason, long at, long until) ->
          outages(outages.opened(id.place(), reason, at, until));
      case Event.WorkerResumed(WorkerId id) -> outages(outages.closed(id.place()));
      case Event.VerificationSuspended(String reason, long at, long until) ->
          outages(outages.verifiersOpened(reason, at, until));
      case Event.VerificationResumed _ -> outages(outages.verifiersClosed());
      case Event.WorkerRetired(WorkerId id) -> worker(id, worker(id).markedAbsent());
      case Event.StepStarted(long _, List<GroupId> batch) -> train(batch);
      case Event.Notice _ -> this;
      case Event.StepTrained(long step, List<GroupId> kept) ->
          endTraining(kept)
              .version(new WeightVersion(step))
              .streaks(streaks.train())
              .outages(outages.succeeded())
              .controls(controls.checkpointAsked(false));
      case Event.StepSkipped(long _, String reason, boolean empty) -> {
        List<Group.Training> batch = trainingStages();
        List<Group.Training> used = batch.stream().filter(group -> group.uses() > 0).toList();
        yield groups(live().endTraining(List.of()))
            .ledger(
                ledger
                    .skip(batch.size() - used.size())
                    .train(used.size(), used.stream().mapToLong(Group.Training::uses).sum()))
            .streaks(streaks.skip(empty, reason))
            .outages(outages.succeeded())
            .controls(controls.checkpointAsked(false));
      }
      case Event.GroupSpent(LeaseId lease) ->
          without(lease.group()).ledger(ledger.train(1, usesOf(group(lease.group()))));
      case Event.OrderTaken(OperatorCommand.PauseAdmission pause, Attribution _) ->
          orders(pause).outages(outages.succeeded());
      // A failure during a pause is no outage of the run, however long the pause was.
      case Event.OrderTaken(OperatorCommand.ResumeAdmission resumption, Attribution _) ->
          orders(resumption).outages(outages.succeeded());
      case Event.OrderTaken(OperatorCommand verb, Attribution _) -> orders(verb);
      case Event.GroupWithdrawn(LeaseId lease) ->
          group(group(lease.group()).drawn().at(new Group.Waiting()))
              .ledger(ledger.end(LeaseEndReason.CANCELLED));
      case Event.DrainStarted(long deadline, RunEnd end) ->
          phase(new Phase.Draining(deadline, end));
      case Event.SavingStarted(RunEnd end) -> phase(new Phase.Saving(end));
      case Event.RunEnded(RunEnd end) -> phase(new Phase.Ended(end));
    };
  }

  /** Invariant S2 in numbers: nothing is counted twice, nothing is missing. */
  public boolean balanced() {
    long live = (long) groups.size() - live().waiting().size();
    return ledger.granted() == ledger.endedLeases() + live
        && ledger.admitted() == ledger.endedGroups() + groups.size();
  }

  /** Groups waiting to be sampled again, first in line first. */
  public Stream<Group> waiting() {
    return live().waiting().stream();
  }

  /** Leases held by workers. */
  public Stream<Group.Leased> leases() {
    return live().leased().stream().map(group -> (Group.Leased) group.stage());
  }

  /** Groups ready to train on. */
  public Stream<GroupSummary> buffered() {
    return ready().map(Group.Buffered::summary);
  }

  /** Groups ready to train on, with the uses that they have had. */
  public Stream<Group.Buffered> ready() {
    return live().buffered().stream().map(group -> (Group.Buffered) group.stage());
  }

  /** Groups of the step that is running; none when the trainer is idle. */
  public Stream<Group> inTraining() {
    return live().training().stream();
  }

  /** Whether a step runs. */
  public boolean runsStep() {
    return !live().training().isEmpty();
  }

  /** Whether a group waits to be sampled again. */
  public boolean hasWaiting() {
    return !live().waiting().isEmpty();
  }

  /** Returns the number of groups under lease. */
  public int leaseCount() {
    return live().leased().size();
  }

  /** Returns the number of groups that are ready to train on. */
  public int bufferedCount() {
    return live().buffered().size();
  }

  private LiveGroups live() {
    return LiveGroups.of(groups);
  }

  /** The stage of a lease that is still good. */
  public Optional<Group.Leased> lease(LeaseId lease) {
    Group group = groups.get(lease.group());
    return group != null && group.stage() instanceof Group.Leased held && held.lease().equals(lease)
        ? Optional.of(held)
        : Optional.empty();
  }

  /** Uses that accepted groups have had or may have, as the admission formula counts them. */
  public long accepted(int usesOfGroup) {
    return ledger.trained()
        + ledger.reused()
        + (long) usesOfGroup * (bufferedCount() + live().training().size());
  }

  /** Returns a live group; the caller knows that it is live. */
  public Group group(GroupId id) {
    Group group = groups.get(id);
    invariant(group != null, "%s is not a live group", id);
    return Objects.requireNonNull(group);
  }

  private Group.Leased leased(LeaseId lease) {
    Optional<Group.Leased> held = lease(lease);
    invariant(held.isPresent(), "%s is not under lease", lease);
    return held.get();
  }

  /** Workers with unmet demand: most demand first, of equal demand by name. */
  Stream<WorkerId> demanding() {
    return KnownWorkers.of(workers).byDemand().stream();
  }

  /** Whether a worker would take more groups than it has. */
  public boolean hasUnmetDemand() {
    return !KnownWorkers.of(workers).byDemand().isEmpty();
  }

  /** A worker, also one that nothing was heard of. */
  Worker worker(WorkerId id) {
    Worker worker = workers.get(id);
    return worker == null ? Worker.UNKNOWN : worker;
  }

  private RunState train(List<GroupId> batch) {
    List<Group> training = new ArrayList<>(batch.size());
    for (GroupId id : batch) {
      Group group = group(id);
      invariant(group.stage() instanceof Group.Buffered, "%s is not buffered", id);
      Group.Buffered ready = (Group.Buffered) group.stage();
      training.add(group.at(new Group.Training(ready.summary(), ready.uses())));
    }
    return groups(live().train(training));
  }

  /** After a step that moved the weights: its groups end as trained, or are buffered again. */
  private RunState endTraining(List<GroupId> kept) {
    List<Group> buffered = new ArrayList<>(kept.size());
    long uses = trainingStages().stream().mapToLong(group -> group.uses() + 1L).sum();
    for (GroupId id : kept) {
      Group group = group(id);
      invariant(group.stage() instanceof Group.Training, "%s is not in training", id);
      Group.Training trained = (Group.Training) group.stage();
      buffered.add(group.at(new Group.Buffered(trained.summary(), trained.uses() + 1)));
      uses -= trained.uses() + 1L;
    }
    return groups(live().endTraining(buffered))
        .ledger(ledger.train(live().training().size() - kept.size(), uses));
  }

  /** Groups of the step that is running, with the uses that they had before it. */
  List<Group.Training> trainingStages() {
    return live().training().stream().map(group -> (Group.Training) group.stage()).toList();
  }

  /** Steps that trained on a buffered group, one or more. */
  private static int usesOf(Group group) {
    invariant(
        group.stage() instanceof Group.Buffered ready && ready.uses() > 0,
        "%s was not kept for another use",
        group.id());
    return ((Group.Buffered) group.stage()).uses();
  }

  private RunState group(Group group) {
    return groups(live().with(group));
  }

  private RunState without(GroupId id) {
    return groups(live().without(id));
  }

  /** A judged group is a success of its worker, of the verifiers, and of the run. */
  private RunState answeredBy(WorkerId holder) {
    return worker(holder, worker(holder).withLeaseEnded())
        .outages(outages.worked(holder).succeeded());
  }

  private RunState measured(GroupSummary summary) {
    if (!cursor.byDifficulty()) {
      return this;
    }
    int prompt = group(summary.lease().group()).prompt();
    PassRate before = passRates.getOrDefault(prompt, PassRate.UNKNOWN);
    return new RunState(
        phase,
        version,
        cursor,
        groups,
        workers,
        lastFence,
        streaks,
        outages,
        ledger,
        PersistentMap.of(passRates)
            .with(prompt, before.measured(summary.rewards(), summary.passed())),
        controls);
  }

  private RunState worker(WorkerId id, Worker worker) {
    KnownWorkers known = KnownWorkers.of(workers);
    return new RunState(
        phase,
        version,
        cursor,
        groups,
        worker.over() ? known.without(id) : known.with(id, worker),
        lastFence,
        streaks,
        outages,
        ledger,
        passRates,
        controls);
  }

  private RunState orders(OperatorCommand verb) {
    return controls(controls.after(verb, inTraining().findAny().isPresent()));
  }

  private RunState phase(Phase next) {
    return new RunState(
        next, version, cursor, groups, workers, lastFence, streaks, outages, ledger, passRates,
        controls);
  }

  /** Returns this run at another version of the weights. */
  public RunState version(WeightVersion next) {
    return new RunState(
        phase, next, cursor, groups, workers, lastFence, streaks, outages, ledger, passRates,
        controls);
  }

  private RunState cursor(PromptCursor next) {
    return new RunState(
        phase, version, next, groups, workers, lastFence, streaks, outages, ledger, passRates,
        controls);
  }

  private RunState groups(SortedMap<GroupId, Group> next) {
    return new RunState(
        phase, version, cursor, next, workers, lastFence, streaks, outages, ledger, passRates,
        controls);
  }

  RunState fence(long next) {
    return new RunState(
        phase, version, cursor, groups, workers, next, streaks, outages, ledger, passRates,
        controls);
  }

  private RunState streaks(Streaks next) {
    return new RunState(
        phase, version, cursor, groups, workers, lastFence, next, outages, ledger, passRates,
        controls);
  }

  private RunState outages(Outages next) {
    return new RunState(
        phase, version, cursor, groups, workers, lastFence, streaks, next, ledger, passRates,
        controls);
  }

  RunState ledger(Ledger next) {
    return new RunState(
        phase, version, cursor, groups, workers, lastFence, streaks, outages, next, passRates,
        controls);
  }

  /** Returns this run under other orders of its operators. */
  public RunState controls(Controls next) {
    return new RunState(
        phase, version, cursor, groups, workers, lastFence, streaks, outages, ledger, passRates,
        next);
  }
}
