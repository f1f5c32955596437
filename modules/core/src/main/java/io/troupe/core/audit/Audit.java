package io.troupe.core.audit;

import io.troupe.core.completion.TokensByVersion;
import io.troupe.core.prompt.PromptCursor;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.GroupSummary;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.run.Event;
import io.troupe.core.run.OperatorCommand;
import io.troupe.core.run.Phase;
import io.troupe.core.run.RunEnd;
import io.troupe.core.run.RunState;
import io.troupe.core.run.group.LeaseEndReason;
import io.troupe.core.weights.WeightVersion;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Reads what a run's journal says happened, in order, and checks that the run kept its promises.
 *
 * <p>Not safe for use by several threads.
 */
public final class Audit {
  /*
   * Worth something only because it does not believe the program it checks: it keeps its own books
   * (which groups are pending and where, who holds which lease, what each prompt came to) and calls
   * neither Coordination nor RunState.evolve. Of the state that a resume carries it believes
   * nothing either, until it has found the moment of its own books which that state claims to be.
   *
   *   S1  A step's tokens are known from the versions its groups were accepted with, and what the
   *       trainer gave weight to from LossTokensCounted. The two must agree: as many weighted tokens as
   *       are young enough at most, and none staler than the bound.
   *   S2  A prompt is admitted once an epoch, by difficulty at most once; its group ends once; an
   *       answer counts under the lease that is current and no other. A group is in a step once, and
   *       the groups of all steps are those that ended as trained, their further uses, and the uses
   *       of groups that are kept.
   *   S3  A prompt is given up for failures that speak against it, or for an operator's order; who
   *       is suspended gets one group at a time; a run that trained nothing is not completed.
   *
   * A violation does not end the audit: the books follow what the event says as far as they can.
   */

  private enum State {
    STARTING,
    RUNNING,
    DRAINING,
    SAVING,
    ENDED
  }

  private static final int MOST_VIOLATIONS = 1000;
  private static final int MOST_REASONS = 20;

  private final PendingGroups pending = new PendingGroups();
  private final AdmissionLog admissions = new AdmissionLog();
  private final ResumePositions positions = new ResumePositions();
  private final AuditCounters seen = new AuditCounters();
  private final List<AuditViolation> violations = new ArrayList<>();
  private final SortedMap<String, Long> failed = new TreeMap<>();
  private final Set<WorkerId> gone = new HashSet<>();
  private final Set<String> suspended = new HashSet<>();
  private boolean verifiersSuspended;
  private Optional<GroupId> ordered = Optional.empty();
  private AuditCounters tally = new AuditCounters();
  private State state = State.STARTING;
  private Optional<ResumePosition> left = Optional.empty();
  private Optional<Event.LossTokensCounted> lossTokensCounted = Optional.empty();
  private AuditReport.Tokens tokens = AuditReport.Tokens.NONE;
  private boolean atCheckpoint;
  private long step;
  private long version;
  private long lastFence;

  /** A step whose token counts may be in a record that is missing; 0 for none. */
  private long unproven;

  private long undoneSteps;
  private long processes;
  private long violationCount;
  private long lostGroups;
  private long lostLeases;
  private long record;
  private long events;

  /** An audit from the first record on. */
  public Audit() {}

  /**
   * An audit of a journal whose first records are not there any more: what they come to is
   * believed.
   *
   * @param record the last one that is missing
   * @param from the state behind it
   */
  public Audit(long record, RunState from) {
    this.record = record;
    processes = 1;
    from.groups().values().forEach(group -> pending.put(AuditedGroup.of(group)));
    tally = AuditCounters.of(from.ledger());
    for (AuditCounter entry : AuditCounter.values()) {
      seen.add(entry, tally.of(entry));
    }
    version = from.version().number();
    step = training().isEmpty() ? 0 : version + 1;
    unproven = step;
    lastFence = from.lastFence();
    state =
        switch (from.phase()) {
          case Phase.Starting _ -> State.STARTING;
          case Phase.Running _ -> State.RUNNING;
          case Phase.Draining _ -> State.DRAINING;
          case Phase.Saving _ -> State.SAVING;
          case Phase.Ended _ -> State.ENDED;
        };
    admissions.begin(tally.of(AuditCounter.ADMITTED), from.cursor());
    positions.add(position());
  }

  /** Takes the next record of the journal: the events of one decision. */
  public void record(long number, List<Event> decision) {
    record = number;
    for (Event event : decision) {
      atCheckpoint &=
          event instanceof Event.GroupStale
              || event instanceof Event.GroupSpent
              || event instanceof Event.LeaseEnded;
      take(event);
      events++;
      if (atCheckpoint) {
        positions.replaceLast(position());
      }
    }
    atCheckpoint = false;
    balance();
  }

  /** Notes that the journal cannot be read from here on. */
  public void unreadable(String why) {
    violate(AuditRule.JOURNAL, why);
  }

  /** Returns the findings so far. */
  public AuditReport report() {
    return new AuditReport(
        record,
        events,
        state.name().toLowerCase(Locale.ROOT),
        version,
        undoneSteps,
        processes,
        admissions.epochs(),
        seen.copy(),
        tally.copy(),
        count(AuditedGroup.Waiting.class),
        count(AuditedGroup.Leased.class),
        count(AuditedGroup.Buffered.class),
        count(AuditedGroup.Training.class),
        tokens,
        failed,
        List.copyOf(violations),
        violationCount);
  }

  private void take(Event event) {
    switch (event) {
      case Event.RunStarted _ -> onStarted();
      case Event.RunResumed(RunState from) -> onResumed(from);
      case Event.DemandRaised(WorkerId worker, long _) -> gone.remove(worker);
      case Event.GroupAdmitted(GroupId group, int prompt, long epoch, PromptCursor next) ->
          onAdmitted(group, prompt, epoch, next);
      case Event.LeaseGranted(LeaseId lease, WorkerId worker, WeightVersion granted, long _) ->
          onGranted(lease, worker, granted);
      case Event.LeaseSampled(LeaseId lease, long _) -> leased(lease, "is sampled");
      case Event.LeaseEnded(LeaseId lease, LeaseEndReason reason, String _, boolean counts) ->
          onLeaseEnded(lease, reason, counts);
      case Event.GroupBuffered(GroupSummary summary) -> onBuffered(summary);
      case Event.GroupFiltered(GroupSummary summary) -> onFiltered(summary);
      case Event.GroupStale(LeaseId lease) -> onGroupStale(lease);
      case Event.GroupWithdrawn(LeaseId lease) -> onWithdrawn(lease);
      case Event.GroupFailed(GroupId group, String reason) -> onFailed(group, reason);
      case Event.AnswerRefused _ -> count(AuditCounter.REFUSED, 1);
      case Event.WorkerLost(WorkerId worker) -> gone.add(worker);
      case Event.WorkerRetired _ -> {} // Its leases may continue.
      case Event.WorkerSuspended suspension -> suspended.add(suspension.worker().place());
      case Event.WorkerResumed(WorkerId worker) -> suspended.remove(worker.place());
      case Event.VerificationSuspended _ -> verifiersSuspended = true;
      case Event.VerificationResumed _ -> verifiersSuspended = false;
      case Event.StepStarted(long number, List<GroupId> batch) -> onStepStarted(number, batch);
      case Event.LossTokensCounted said -> lossTokensCounted = Optional.of(said);
      case Event.StepTrained(long number, List<GroupId> kept) -> onStepTrained(number, kept);
      case Event.GroupSpent(LeaseId lease) -> onGroupSpent(lease);
      case Event.StepSkipped(long number, String _, boolean _) -> onStepSkipped(number);
      case Event.OrderTaken(OperatorCommand verb, var _) -> {
        if (verb instanceof OperatorCommand.SaveCheckpoint) {
          positions.add(position());
        }
        if (verb instanceof OperatorCommand.CancelGroup(GroupId group)) {
          ordered = Optional.of(group);
        }
      }
      case Event.CheckpointSaved(long saved) -> onCheckpointSaved(saved);
      case Event.DrainStarted _ -> state = State.DRAINING;
      case Event.SavingStarted(RunEnd end) -> {
        state = State.SAVING;
        positions.add(position());
        succeeds(end);
      }
      case Event.RunEnded(RunEnd end) -> {
        state = State.ENDED;
        succeeds(end);
      }
      case Event.Notice _ -> {} // No promise is about what else only informs.
    }
  }

  // --- processes ---

  private void onStarted() {
    if (state != State.STARTING) {
      violate(AuditRule.PHASES, "the run starts, and it is " + name());
    }
    processes += left.isPresent() ? 0 : 1;
    undoneSteps += left.map(ResumePosition::version).orElse(version);
    empty();
    positions.clear();
    admissions.truncate(0, PromptCursor.START);
    left = Optional.empty();
    state = State.RUNNING;
    positions.add(position());
  }

  private void onResumed(RunState from) {
    if (from.phase() instanceof Phase.Starting) {
      // A new process: what the old one did is undone until it says from where it continues.
      processes++;
      left = left.or(() -> Optional.of(position()));
      empty();
      state = State.STARTING;
      return;
    }
    ResumePosition before = left.orElseGet(this::position);
    processes += left.isPresent() ? 0 : 1;
    empty();
    from.groups().values().forEach(group -> pending.put(AuditedGroup.of(group)));
    tally = AuditCounters.of(from.ledger());
    version = from.version().number();
    ResumePosition now = position(from.cursor());
    Optional<ResumePosition> origin =
        before.resumesAs(now) ? Optional.of(before) : positions.truncateTo(now);
    if (origin.isEmpty()) {
      violate(
          AuditRule.RESUME,
          "it continues from v%d with %s, which no checkpoint of it can hold"
              .formatted(version, tally));
    }
    seen.add(AuditCounter.CANCELLED, origin.map(ResumePosition::leased).orElse(0L) - now.leased());
    if (tally.of(AuditCounter.ADMITTED) > admissions.count()) {
      violate(
          AuditRule.RESUME,
          "it continues with %d groups admitted, and the journal has %d"
              .formatted(tally.of(AuditCounter.ADMITTED), admissions.count()));
    }
    admissions.truncate(tally.of(AuditCounter.ADMITTED), from.cursor());
    if (from.cursor().byDifficulty() && from.cursor().chosen() != tally.of(AuditCounter.ADMITTED)) {
      violate(
          AuditRule.RESUME,
          "it resumes with %d prompts chosen by difficulty, of %d admitted"
              .formatted(from.cursor().chosen(), tally.of(AuditCounter.ADMITTED)));
    }
    undoneSteps += Math.max(0, before.version() - version);
    left = Optional.empty();
    state = State.RUNNING;
  }

  private void empty() {
    pending.clear();
    gone.clear();
    suspended.clear();
    verifiersSuspended = false;
    tally = new AuditCounters();
    version = 0;
    step = 0;
    lossTokensCounted = Optional.empty();
  }

  private ResumePosition position() {
    return position(admissions.cursor());
  }

  private ResumePosition position(PromptCursor cursor) {
    return new ResumePosition(
        version,
        tally.copy(),
        cursor,
        count(AuditedGroup.Leased.class),
        pending.fingerprint(),
        record);
  }

  // --- groups and leases ---

  private void onAdmitted(GroupId group, int prompt, long epoch, PromptCursor next) {
    begins(group, "is admitted");
    if (group.number() != admissions.count() + 1) {
      violate(
          AuditRule.COUNTS, "%s is admitted after %d groups".formatted(group, admissions.count()));
    }
    admissions
        .add(prompt, epoch, next)
        .ifPresent(wrong -> violate(AuditRule.EXACTLY_ONCE, group + ": " + wrong));
    pending
        .put(new AuditedGroup(group, prompt, epoch, 0, new AuditedGroup.Waiting()))
        .ifPresent(
            before ->
                violate(
                    AuditRule.EXACTLY_ONCE,
                    "%s is admitted while it is %s".formatted(group, before.where())));
    count(AuditCounter.ADMITTED, 1);
  }

  private void onGranted(LeaseId lease, WorkerId worker, WeightVersion granted) {
    begins(lease, "is granted");
    if (lease.fence() <= lastFence) {
      violate(
          AuditRule.FENCING,
          "%s is granted to %s after fence %d".formatted(lease, worker.value(), lastFence));
    }
    lastFence = Math.max(lastFence, lease.fence());
    probes(lease, worker);
    if (granted.number() > version) {
      violate(AuditRule.VERSIONS, "%s is granted at %s, of v%d".formatted(lease, granted, version));
    }
    find(lease.group(), "is leased")
        .ifPresent(
            group -> {
              if (!(group.place() instanceof AuditedGroup.Waiting)) {
                violate(
                    AuditRule.FENCING,
                    "%s is granted while it is %s".formatted(lease, group.where()));
              }
              pending.put(group.at(new AuditedGroup.Leased(lease, worker, granted)));
            });
    count(AuditCounter.GRANTED, 1);
  }

  /** A suspended worker gets a group only while it has none. */
  private void probes(LeaseId lease, WorkerId worker) {
    if (verifiersSuspended && count(AuditedGroup.Leased.class) > 0) {
      violate(
          AuditRule.OUTAGES,
          "%s is granted while no verifier is there and others are under lease".formatted(lease));
    }
    if (!suspended.isEmpty()
        && suspended.contains(worker.place())
        && pending.all().stream().anyMatch(group -> group.isLeasedTo(worker))) {
      violate(
          AuditRule.OUTAGES,
          "%s is granted to %s, which is suspended and has a lease"
              .formatted(lease, worker.value()));
    }
  }

  private void onLeaseEnded(LeaseId lease, LeaseEndReason reason, boolean counts) {
    leased(lease, "ends").ifPresent(_ -> move(lease.group(), new AuditedGroup.Waiting()));
    if (counts) {
      pending.find(lease.group()).ifPresent(group -> pending.put(group.charged()));
      if (reason == LeaseEndReason.VERIFIER_AWAY
          || reason == LeaseEndReason.STALE
          || reason == LeaseEndReason.CANCELLED) {
        violate(
            AuditRule.OUTAGES,
            "%s ended as %s, which no prompt is to blame for, and counts"
                .formatted(lease, reason.name().toLowerCase(Locale.ROOT)));
      }
    }
    count(
        switch (reason) {
          case EXPIRED -> AuditCounter.EXPIRED;
          case WORKER_LOST -> AuditCounter.LOST;
          case FAILED -> AuditCounter.BROKEN;
          case ENGINE_FAILED, ENVIRONMENT_FAILED, VERIFIER_AWAY -> AuditCounter.OUTAGES;
          case STALE -> AuditCounter.STALE;
          case CANCELLED -> AuditCounter.CANCELLED;
        },
        1);
  }

  private void onBuffered(GroupSummary summary) {
    accepts(summary);
    move(summary.lease().group(), new AuditedGroup.Buffered(summary, 0));
  }

  private void onFiltered(GroupSummary summary) {
    accepts(summary);
    pending.remove(summary.lease().group());
    count(AuditCounter.FILTERED, 1);
  }

  private void accepts(GroupSummary summary) {
    LeaseId lease = summary.lease();
    if (summary.newest().number() > version) {
      violate(
          AuditRule.VERSIONS,
          "%s brings tokens of %s, of v%d".formatted(lease, summary.newest(), version));
    }
    leased(lease, "is accepted")
        .filter(held -> summary.oldest().compareTo(held.version()) < 0)
        .ifPresent(
            held ->
                violate(
                    AuditRule.STALENESS,
                    "%s brings tokens of %s, granted at %s"
                        .formatted(lease, summary.oldest(), held.version())));
  }

  private void onGroupStale(LeaseId lease) {
    takeBack(lease, "is spoiled");
    count(AuditCounter.STALE, 1);
  }

  private void onWithdrawn(LeaseId lease) {
    takeBack(lease, "is withdrawn");
    count(AuditCounter.CANCELLED, 1);
  }

  private void onGroupSpent(LeaseId lease) {
    Optional<AuditedGroup> group = find(lease.group(), "is spent");
    if (group.isPresent()
        && group.get().place() instanceof AuditedGroup.Buffered(GroupSummary held, int _, int uses)
        && held.lease().equals(lease)
        && uses > 0) {
      train(group.get(), uses);
    } else {
      violate(
          AuditRule.EXACTLY_ONCE,
          "%s is spent, and no step has trained on it and kept it".formatted(lease));
    }
  }

  /** Ends a group that {@code uses} steps trained on. */
  private void train(AuditedGroup group, int uses) {
    pending.remove(group.id());
    count(AuditCounter.TRAINED, 1);
    count(AuditCounter.REUSED, uses - 1L);
  }

  private void takeBack(LeaseId lease, String what) {
    find(lease.group(), what)
        .ifPresent(
            group -> {
              if (!(group.place()
                      instanceof AuditedGroup.Buffered(GroupSummary held, int _, int uses))
                  || !held.lease().equals(lease)) {
                violate(
                    AuditRule.FENCING,
                    "%s %s while it is %s".formatted(lease, what, group.where()));
              } else if (uses > 0) {
                violate(
                    AuditRule.EXACTLY_ONCE,
                    "%s %s to be sampled again, and %d steps have trained on it"
                        .formatted(lease, what, uses));
              }
              move(group.id(), new AuditedGroup.Waiting());
            });
  }

  private void onFailed(GroupId id, String reason) {
    find(id, "fails")
        .filter(group -> !(group.place() instanceof AuditedGroup.Waiting))
        .ifPresent(
            group ->
                violate(
                    AuditRule.EXACTLY_ONCE,
                    "%s is given up while it is %s".formatted(id, group.where())));
    Optional<AuditedGroup> given = pending.remove(id);
    if (given.isPresent() && given.get().charges() == 0 && !ordered.equals(Optional.of(id))) {
      violate(AuditRule.OUTAGES, "%s is given up, and no failure of it counted".formatted(id));
    }
    count(AuditCounter.FAILED, 1);
    String kind = reason.replaceAll("\\d+", "#");
    failed.merge(
        failed.size() < MOST_REASONS || failed.containsKey(kind) ? kind : "others", 1L, Long::sum);
  }

  // --- steps ---

  private void onStepStarted(long number, List<GroupId> batch) {
    begins("step", number);
    if (step != 0) {
      violate(AuditRule.VERSIONS, "step %d starts while step %d runs".formatted(number, step));
    }
    if (number != version + 1) {
      violate(AuditRule.VERSIONS, "step %d starts from v%d".formatted(number, version));
    }
    step = number;
    lossTokensCounted = Optional.empty();
    String what = "is trained by step " + number;
    for (GroupId id : batch) {
      find(id, what)
          .ifPresent(
              group -> {
                if (group.place()
                    instanceof AuditedGroup.Buffered(GroupSummary summary, int content, int uses)) {
                  pending.put(group.at(new AuditedGroup.Training(summary, content, uses)));
                } else {
                  violate(
                      AuditRule.EXACTLY_ONCE,
                      "%s is trained by step %d while it is %s"
                          .formatted(id, number, group.where()));
                }
              });
    }
  }

  private void onStepTrained(long number, List<GroupId> kept) {
    runs(number, "is trained");
    List<AuditedGroup> batch = training();
    prove(number, batch);
    Set<GroupId> again = new HashSet<>(kept);
    for (AuditedGroup group : batch) {
      AuditedGroup.Training step = (AuditedGroup.Training) group.place();
      int uses = step.uses() + 1;
      if (again.remove(group.id())) {
        pending.put(group.at(new AuditedGroup.Buffered(step.summary(), step.content(), uses)));
      } else {
        train(group, uses);
      }
    }
    again.forEach(
        id ->
            violate(
                AuditRule.EXACTLY_ONCE,
                "%s is kept by step %d, which did not train on it".formatted(id, number)));
    endStep();
    if (number != version + 1) {
      violate(AuditRule.VERSIONS, "v%d follows v%d".formatted(number, version));
    }
    version = number;
    positions.add(position());
    atCheckpoint = true;
  }

  private void onStepSkipped(long number) {
    runs(number, "is skipped");
    for (AuditedGroup group : training()) {
      int uses = ((AuditedGroup.Training) group.place()).uses();
      if (uses > 0) {
        train(group, uses);
      } else {
        pending.remove(group.id());
        count(AuditCounter.SKIPPED, 1);
      }
    }
    endStep();
    // An operator may have asked for a checkpoint at the end of this step.
    positions.add(position());
  }

  private void runs(long number, String what) {
    if (step != number || count(AuditedGroup.Training.class) == 0) {
      violate(
          AuditRule.VERSIONS,
          "step %d %s, and %s".formatted(number, what, step == 0 ? "none runs" : "step " + step));
    }
  }

  private void endStep() {
    step = 0;
    lossTokensCounted = Optional.empty();
  }

  /** S1: what the trainer gave weight to, against the versions its groups were accepted with. */
  private void prove(long number, List<AuditedGroup> batch) {
    if (lossTokensCounted.isEmpty() && number == unproven) {
      return;
    }
    if (lossTokensCounted.isEmpty() || lossTokensCounted.get().step() != number) {
      violate(
          AuditRule.STALENESS,
          "step %d is trained, and no event says which tokens had loss weight".formatted(number));
      return;
    }
    Event.LossTokensCounted said = lossTokensCounted.get();
    long all = 0;
    long young = 0;
    for (AuditedGroup group : batch) {
      GroupSummary summary = ((AuditedGroup.Training) group.place()).summary();
      long before = young;
      TokensByVersion sampled = summary.tokensByVersion();
      for (int i = 0; i < sampled.size(); i++) {
        boolean fresh = version - sampled.version(i).number() <= said.maxStaleness();
        all += sampled.tokens(i);
        young += fresh ? sampled.tokens(i) : 0;
      }
      if (young == before) {
        violate(
            AuditRule.STALENESS,
            "%s is trained by step %d from v%d, and its newest token is of %s, staler than %d"
                .formatted(
                    summary.lease(), number, version, summary.newest(), said.maxStaleness()));
      }
    }
    checkPromise(said, all, young);
    tokens =
        new AuditReport.Tokens(
            tokens.weighted() + said.weighted(),
            tokens.unweighted() + said.unweighted(),
            Math.max(tokens.stalenessMax(), said.stalenessMax()),
            Math.max(tokens.boundMax(), said.maxStaleness()));
  }

  private void checkPromise(Event.LossTokensCounted said, long all, long young) {
    if (said.stalenessMax() > said.maxStaleness()) {
      violate(
          AuditRule.STALENESS,
          "step %d gave weight to a token of staleness %d, and the bound is %d"
              .formatted(said.step(), said.stalenessMax(), said.maxStaleness()));
    }
    if (said.weighted() > young) {
      violate(
          AuditRule.STALENESS,
          "step %d gave weight to %d tokens, and only %d of its groups are young enough"
              .formatted(said.step(), said.weighted(), young));
    }
    if (said.weighted() + said.unweighted() != all) {
      violate(
          AuditRule.COUNTS,
          "step %d counted %d tokens, and its groups have %d"
              .formatted(said.step(), said.weighted() + said.unweighted(), all));
    }
  }

  private void succeeds(RunEnd end) {
    if (end instanceof RunEnd.Completed && version == 0) {
      violate(AuditRule.OUTAGES, "the run is completed, and no step moved the weights");
    }
  }

  private void onCheckpointSaved(long saved) {
    if (saved > version) {
      violate(AuditRule.VERSIONS, "checkpoint %d is saved at v%d".formatted(saved, version));
    }
    positions.saved(saved);
  }

  // --- the books ---

  private void balance() {
    for (AuditedGroup group :
        gone.isEmpty() ? List.<AuditedGroup>of() : pending.in(AuditedGroup.Leased.class)) {
      if (group.place() instanceof AuditedGroup.Leased(var lease, var worker, var _)
          && gone.contains(worker)) {
        violate(
            AuditRule.FENCING,
            "%s is still held by %s, which is lost".formatted(lease, worker.value()));
      }
    }
    gone.clear();
    long ended = tally.sum(AuditCounter.GROUP_ENDS);
    long lost = tally.of(AuditCounter.ADMITTED) - ended - pending.size();
    if (lost != lostGroups) {
      violate(
          AuditRule.COUNTS,
          "%d groups admitted, %d ended, %d pending"
              .formatted(tally.of(AuditCounter.ADMITTED), ended, pending.size()));
    }
    lostGroups = lost;
    long live = pending.size() - count(AuditedGroup.Waiting.class);
    long open = tally.of(AuditCounter.GRANTED) - tally.sum(AuditCounter.LEASE_ENDS) - live;
    if (open != lostLeases) {
      violate(
          AuditRule.COUNTS,
          "%d leases granted, %d ended, %d live"
              .formatted(tally.of(AuditCounter.GRANTED), tally.sum(AuditCounter.LEASE_ENDS), live));
    }
    lostLeases = open;
  }

  private void begins(Object what, Object how) {
    if (state != State.RUNNING) {
      violate(AuditRule.PHASES, "%s %s in a run that is %s".formatted(what, how, name()));
    }
  }

  private String name() {
    return state.name().toLowerCase(Locale.ROOT);
  }

  private Optional<AuditedGroup> find(GroupId id, String what) {
    Optional<AuditedGroup> group = pending.find(id);
    if (group.isEmpty()) {
      violate(
          AuditRule.EXACTLY_ONCE,
          "%s %s, and it %s"
              .formatted(
                  id,
                  what,
                  id.number() <= tally.of(AuditCounter.ADMITTED)
                      ? "has ended"
                      : "was never admitted"));
    }
    return group;
  }

  /** Returns the group's present lease, which must be the given one. */
  private Optional<AuditedGroup.Leased> leased(LeaseId lease, String what) {
    Optional<AuditedGroup> group = find(lease.group(), what);
    if (group.isPresent()
        && group.get().place() instanceof AuditedGroup.Leased held
        && held.lease().equals(lease)) {
      return Optional.of(held);
    }
    group.ifPresent(
        other ->
            violate(
                AuditRule.FENCING,
                "%s %s, and its group is %s".formatted(lease, what, other.where())));
    return Optional.empty();
  }

  private void move(GroupId id, AuditedGroup.Stage place) {
    pending.find(id).ifPresent(group -> pending.put(group.at(place)));
  }

  private List<AuditedGroup> training() {
    return pending.in(AuditedGroup.Training.class);
  }

  private long count(Class<? extends AuditedGroup.Stage> place) {
    return pending.count(place);
  }

  private void count(AuditCounter entry, long groups) {
    tally.add(entry, groups);
    seen.add(entry, groups);
  }

  private void violate(AuditRule rule, String what) {
    violationCount++;
    if (violations.size() < MOST_VIOLATIONS) {
      violations.add(new AuditViolation(record, rule, what));
    }
  }
}
