package io.troupe.core.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.audit.Audit;
import io.troupe.core.audit.AuditReport;
import io.troupe.core.completion.Completion;
import io.troupe.core.completion.FinishReason;
import io.troupe.core.completion.TokenVersions;
import io.troupe.core.loss.Correction;
import io.troupe.core.loss.KlEstimator;
import io.troupe.core.loss.LossSettings;
import io.troupe.core.loss.Objective;
import io.troupe.core.loss.TrainingSequence;
import io.troupe.core.rollout.Episode;
import io.troupe.core.rollout.EpisodeSequence;
import io.troupe.core.rollout.EpisodeSummary;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.GroupSize;
import io.troupe.core.rollout.GroupSummary;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.OpenEpisode;
import io.troupe.core.rollout.ScoredGroup;
import io.troupe.core.rollout.StalePolicy;
import io.troupe.core.rollout.StopReason;
import io.troupe.core.rollout.Turn;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.run.group.Group;
import io.troupe.core.run.group.Ledger;
import io.troupe.core.train.LossTokens;
import io.troupe.core.train.TrainingBatch;
import io.troupe.core.weights.WeightVersion;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * Workers, trainer, network and journal around a coordinator, all of them hostile: messages are
 * late, lost, repeated and reordered, workers vanish and come back, processes crash. It keeps its
 * own books, apart from the coordinator's, and compares.
 */
final class World {
  private static final List<StopReason> STOP_REASONS = List.of(StopReason.values());

  private static final int COMPLETIONS = 2;

  private static final LossSettings LOSS =
      new LossSettings(new Objective.Dapo(), .2, .28, new Correction.None(), 0, KlEstimator.K3, 1);

  private final Coordination coordination;
  private final ScannedDecisions scanned;
  private final SplittableRandom random;
  private final List<Event> journal = new ArrayList<>();
  private final List<List<Event>> decisions = new ArrayList<>();
  private final List<Input> inFlight = new ArrayList<>();
  private final List<Input> delivered = new ArrayList<>();
  private final List<WorkerId> workers = new ArrayList<>();
  private final Map<WorkerId, Long> asked = new HashMap<>();
  private final Map<LeaseId, WeightVersion> granted = new HashMap<>();
  private final Map<LeaseId, GroupSummary> atTrainer = new HashMap<>();
  private final Map<GroupId, LeaseId> current = new HashMap<>();
  private final IdentityHashMap<Input, Boolean> undrawn = new IdentityHashMap<>();
  private final IdentityHashMap<Input, Input> answers = new IdentityHashMap<>();

  /** The present failures of workers; none means that they are as hostile as ever. */
  enum Outage {
    NONE,
    /** Engines fail whatever they are asked. */
    ENGINES,
    /** Agents end without asking the policy, whatever they are given. */
    AGENTS,
    /** No verifier judges what is drawn, and workers say so. */
    VERIFIERS,
    /** Samples are never judged, and no verifier answers. */
    SILENT_VERIFIERS,
    /** Workers die of whatever they get. */
    DEATHS,
    /** Workers never answer. */
    HANGS
  }

  /** The reason of agents' failures. */
  static final String AGENT = "the agent x.py ended without asking the policy";

  private Outage outage = Outage.NONE;
  private boolean ofOneWorker;
  private boolean kind;

  /** In the order of the ends and admissions: a crash forgets the last of them. */
  private final LinkedHashMap<GroupId, String> fates = new LinkedHashMap<>();

  private final LinkedHashMap<GroupId, String> prompts = new LinkedHashMap<>();
  private final Set<String> admitted = new HashSet<>();

  /** Steps that trained on a group, of those that no crash undid. */
  private final Map<GroupId, Integer> uses = new HashMap<>();

  /** The sum of them. */
  private long usesMade;

  private RunState checkpoint = RunState.INITIAL;

  /** Decisions in the journal up to the end of the checkpoint's: a resume reads on from there. */
  private int position;

  /** Decisions that the end of the machine leaves in the journal in any case, and their events. */
  private int synced;

  private int syncedEvents;
  private int fatesAtCheckpoint;
  private int promptsAtCheckpoint;
  private Map<LeaseId, GroupSummary> atTrainerAtCheckpoint = Map.of();
  private Map<GroupId, Integer> usesAtCheckpoint = Map.of();
  private RunState state = RunState.INITIAL;

  /** The fold of this many events, all of them synced, by somebody who has the journal alone. */
  private RunState read = RunState.INITIAL;

  private int eventsRead;
  private long now;

  /** Greatest fence ever granted, by any process and in any journal. */
  private long lastFence;

  private Optional<RunEnd> end = Optional.empty();
  private LossTokens weighed = new LossTokens(0, 0, 0);

  World(Coordination coordination, long seed) {
    this.coordination = coordination;
    this.scanned = new ScannedDecisions(coordination.limits());
    this.random = new SplittableRandom(seed);
    for (int i = 0; i < 3; i++) {
      workers.add(new WorkerId("w" + i));
    }
    deliver(new Input.Begin());
  }

  RunState state() {
    return state;
  }

  Optional<RunEnd> end() {
    return end;
  }

  List<Event> journal() {
    return journal;
  }

  /** All workers fail, or the first alone; but for that everybody answers from now on. */
  void fails(Outage how, boolean firstWorkerOnly) {
    outage = how;
    ofOneWorker = firstWorkerOnly;
    kind = true;
  }

  /** Time in which workers ask for work and answer at once; a tick each half pause. */
  void pass(long millis) {
    for (long until = now + millis; now < until && end.isEmpty(); ) {
      workers.forEach(worker -> ask(worker, 1));
      while (!inFlight.isEmpty() && end.isEmpty()) {
        deliver(inFlight.removeFirst());
      }
      now += 5;
      deliver(new Input.Tick());
    }
  }

  /** One arbitrary thing happens. */
  void disturb() {
    int dice = random.nextInt(1000);
    if (dice < 480) {
      takeAny().ifPresent(this::deliver);
    } else if (dice < 530) {
      peekAny(inFlight).ifPresent(this::deliver);
    } else if (dice < 560) {
      peekAny(delivered).ifPresent(this::deliver);
    } else if (dice < 590) {
      lose();
    } else if (dice < 800) {
      ask();
    } else if (dice < 900) {
      now += random.nextInt(40);
      deliver(new Input.Tick());
    } else if (dice < 910) {
      now += coordination.limits().groups().leaseMillis();
      deliver(new Input.Tick());
    } else if (dice < 930) {
      WorkerId worker = anyWorker();
      deliver(
          random.nextBoolean() ? new Input.WorkerLost(worker) : new Input.WorkerRetired(worker));
    } else if (dice < 960) {
      deliver(nonsense());
    } else if (dice < 966) {
      deliver(new Input.Ordered(anyVerb(), new Attribution("somebody", "")));
    } else if (dice < 970) {
      failOver();
    } else if (dice < 975) {
      if (random.nextBoolean()) {
        losePower();
      }
      crash();
    } else {
      deliver(new Input.StepTrained(random.nextInt(5)));
    }
  }

  private OperatorCommand anyVerb() {
    return switch (random.nextInt(8)) {
      case 0 -> new OperatorCommand.PauseAdmission();
      case 1, 2 -> new OperatorCommand.ResumeAdmission();
      case 3, 4 -> new OperatorCommand.RequeueGroup(anyGroup());
      case 5 -> new OperatorCommand.CancelGroup(anyGroup());
      case 6 -> new OperatorCommand.SaveCheckpoint();
      default -> new OperatorCommand.LimitConcurrency(1 + random.nextInt(8));
    };
  }

  private GroupId anyGroup() {
    List<GroupId> live = List.copyOf(state.groups().keySet());
    return live.isEmpty() ? new GroupId(1) : live.get(random.nextInt(live.size()));
  }

  /** Everybody works, in order: demand is met, answers arrive, time passes. */
  void work() {
    deliver(
        new Input.Ordered(new OperatorCommand.ResumeAdmission(), new Attribution("somebody", "")));
    for (WorkerId worker : workers) {
      ask(worker, 4);
    }
    while (!inFlight.isEmpty() && end.isEmpty()) {
      deliver(inFlight.removeFirst());
    }
    now += coordination.limits().groups().leaseMillis() / 2;
    deliver(new Input.Tick());
  }

  private Optional<Input> takeAny() {
    return inFlight.isEmpty()
        ? Optional.empty()
        : Optional.of(inFlight.remove(random.nextInt(inFlight.size())));
  }

  /** A worker's message is lost; the trainer's are not, its loss is watched and breaks the run. */
  private void lose() {
    takeAny()
        .ifPresent(
            input -> {
              switch (input) {
                case Input.StepTrained _, Input.StepSkipped _, Input.CheckpointSaved _ ->
                    inFlight.add(input);
                default -> {}
              }
            });
  }

  private Optional<Input> peekAny(List<Input> from) {
    return from.isEmpty() ? Optional.empty() : Optional.of(from.get(random.nextInt(from.size())));
  }

  private WorkerId anyWorker() {
    return workers.get(random.nextInt(workers.size()));
  }

  private void ask() {
    if (random.nextInt(40) == 0) {
      workers.set(random.nextInt(workers.size()), new WorkerId("w" + random.nextInt(1000)));
    }
    ask(anyWorker(), 1 + random.nextInt(3));
  }

  private void ask(WorkerId worker, int more) {
    Worker known = state.workers().get(worker);
    if (known == null || known.demand() < 8) {
      long total = asked.merge(worker, (long) more, Long::sum);
      deliver(new Input.DemandRaised(worker, total));
    }
  }

  private Input nonsense() {
    LeaseId lease = new LeaseId(new GroupId(1 + random.nextInt(50)), 1 + random.nextInt(90));
    return switch (random.nextInt(4)) {
      case 0 -> new Input.GroupSampled(lease);
      case 1 -> new Input.GroupFailed(lease, new LeaseFailure.OfPrompt("nonsense"));
      case 2 -> {
        Optional<LeaseId> held = state.leases().map(Group.Leased::lease).findAny();
        yield new Input.GroupScored(
            summary(held.orElse(lease), COMPLETIONS, state.version().number() + 1));
      }
      default -> {
        Optional<LeaseId> held = state.leases().map(Group.Leased::lease).findAny();
        yield new Input.GroupScored(summary(held.orElse(lease), COMPLETIONS + 1, 0));
      }
    };
  }

  private static GroupSummary summary(LeaseId lease, int completions, long version) {
    List<Double> rewards = new ArrayList<>();
    List<TokenVersions> versions = new ArrayList<>();
    for (int i = 0; i < completions; i++) {
      rewards.add((double) i % 2);
      versions.add(TokenVersions.uniform(new WeightVersion(version), 2));
    }
    return new GroupSummary(lease, rewards, versions);
  }

  /** The coordinator's process dies and another takes over with nothing but the journal. */
  private void failOver() {
    assertThat(replay()).isEqualTo(state);
  }

  /** Returns the audit of the journal by another reader, one decision a record. */
  AuditReport audit() {
    Audit audit = new Audit();
    for (int i = 0; i < decisions.size(); i++) {
      audit.record(i + 1, decisions.get(i));
    }
    return audit.report();
  }

  /** The fold of the journal. Each synced event is folded once: it never leaves the journal. */
  RunState replay() {
    read = fold(read, eventsRead, syncedEvents);
    eventsRead = syncedEvents;
    return fold(read, eventsRead, journal.size());
  }

  private RunState fold(RunState from, int begin, int end) {
    RunState folded = from;
    for (Event event : journal.subList(begin, end)) {
      folded = folded.evolve(event);
    }
    return folded;
  }

  /** The end of the machine: what was not fsynced is gone from the journal, or some of it. */
  void losePower() {
    int kept = synced + random.nextInt(decisions.size() - synced + 1);
    List<List<Event>> gone = decisions.subList(kept, decisions.size());
    int events = gone.stream().mapToInt(List::size).sum();
    journal.subList(journal.size() - events, journal.size()).clear();
    gone.clear();
    state = replay();
  }

  /**
   * Returns the last fence that a new process knows: from the checkpoint and the journal after it.
   */
  private long lastFenceInTheJournal() {
    long last = checkpoint.lastFence();
    for (List<Event> decision : decisions.subList(position, decisions.size())) {
      for (Event event : decision) {
        if (event instanceof Event.LeaseGranted(LeaseId lease, var _, var _, var _)) {
          last = Math.max(last, lease.fence());
        } else if (event instanceof Event.RunResumed(RunState from)) {
          last = Math.max(last, from.lastFence());
        }
      }
    }
    return last;
  }

  /**
   * Ends all processes, and resumes from the last checkpoint; old answers are still on their way.
   */
  void crash() {
    if (checkpoint.phase() instanceof Phase.Starting) {
      return;
    }
    while (fates.size() > fatesAtCheckpoint) {
      fates.pollLastEntry();
    }
    while (prompts.size() > promptsAtCheckpoint) {
      admitted.remove(prompts.pollLastEntry().getValue());
    }
    atTrainer.clear();
    atTrainer.putAll(atTrainerAtCheckpoint);
    uses.clear();
    uses.putAll(usesAtCheckpoint);
    usesMade = uses.values().stream().mapToLong(Integer::longValue).sum();
    inFlight.removeIf(Input.CheckpointSaved.class::isInstance);
    inFlight.removeIf(Input.StepTrained.class::isInstance);
    inFlight.removeIf(Input.StepSkipped.class::isInstance);
    delivered.clear();
    apply(coordination.resume(checkpoint, lastFenceInTheJournal()));
  }

  private void deliver(Input sent) {
    Input input = drawn(sent);
    delivered.add(input);
    if (input instanceof Input.GroupScored(GroupSummary summary, var _)) {
      atTrainer.putIfAbsent(summary.lease(), summary);
    }
    if (input instanceof Input.StepTrained(long step)) {
      apply(coordination.decide(state, new Input.LossTokensCounted(step, weighed), now));
    }
    apply(coordination.decide(state, input, now));
  }

  /** An answer is drawn when it first arrives: weights have moved on since the grant. */
  private Input drawn(Input sent) {
    Boolean degenerate = undrawn.get(sent);
    return sent instanceof Input.GroupScored(GroupSummary summary, var _) && degenerate != null
        ? answers.computeIfAbsent(
            sent, _ -> new Input.GroupScored(draw(summary.lease(), degenerate)))
        : sent;
  }

  private void apply(Decision decision) {
    decisions.add(decision.events());
    RunState folded = state;
    for (Event event : decision.events()) {
      mustBeWhatAScanFinds(folded, event);
      folded = folded.evolve(event);
      must(
          !(event instanceof Event.LeaseGranted) || !folded.controls().paused(),
          "a lease is granted while admission is paused");
      journal.add(event);
      record(event);
    }
    must(decision.state().equals(folded), "the decision's state is not the fold of its events");
    state = folded;
    if (decision.outlivesTheMachine()) {
      synced = decisions.size();
      syncedEvents = journal.size();
    }
    must(
        decision.saves()
            || !(state.phase() instanceof Phase.Running)
            || scanned.tooStale(state).isEmpty(),
        "the buffer has a group that is too stale");
    decision.effects().forEach(this::perform);
    check();
    if (decision.saves()) {
      apply(coordination.decide(state, new Input.Tick(), now));
    }
  }

  /** Indexes choose workers, steps and stale groups as a scan of the whole state does. */
  private void mustBeWhatAScanFinds(RunState before, Event event) {
    switch (event) {
      case Event.LeaseGranted(LeaseId lease, WorkerId worker, var _, var _) ->
          mustEqual(scanned.worker(before, now), Optional.of(worker), lease);
      case Event.StepStarted(long step, List<GroupId> batch) ->
          mustEqual(scanned.batch(before), batch, step);
      case Event.GroupStale(LeaseId lease) ->
          mustEqual(scanned.tooStale(before).getFirst().lease(), lease, "the stale group");
      default -> {}
    }
  }

  private void mustEqual(Object found, Object chosen, Object what) {
    must(found.equals(chosen), "%s: a scan finds %s, and %s was chosen", what, found, chosen);
  }

  private void record(Event event) {
    switch (event) {
      case Event.GroupAdmitted(GroupId id, int prompt, long epoch, var _) -> {
        String key = epoch + "/" + prompt;
        must(prompts.put(id, key) == null, "%s is admitted again", id);
        must(admitted.add(key), "prompt %s is admitted again", key);
      }
      case Event.LeaseGranted(LeaseId lease, var _, var _, var _) -> {
        must(lease.fence() > lastFence, "%s does not have a new fence", lease);
        lastFence = lease.fence();
        current.put(lease.group(), lease);
      }
      case Event.LeaseEnded(LeaseId lease, var _, var _, var _) -> endLease(lease);
      case Event.GroupBuffered(GroupSummary summary) -> endLease(summary.lease());
      case Event.RunResumed _ -> current.clear();
      case Event.StepTrained(long _, List<GroupId> kept) ->
          state
              .inTraining()
              .forEach(
                  group -> {
                    int so = uses.merge(group.id(), 1, Integer::sum);
                    usesMade++;
                    must(so <= coordination.limits().step().uses(), "%s is used too often", group);
                    if (!kept.contains(group.id())) {
                      end(group.id(), "trained");
                    }
                  });
      case Event.StepSkipped _ ->
          state
              .inTraining()
              .forEach(
                  group -> end(group.id(), uses.containsKey(group.id()) ? "trained" : "skipped"));
      case Event.GroupSpent(LeaseId lease) -> {
        must(uses.containsKey(lease.group()), "%s is spent and was never used", lease);
        end(lease.group(), "trained");
      }
      case Event.GroupFiltered(GroupSummary summary) -> {
        endLease(summary.lease());
        end(summary.lease().group(), "filtered");
      }
      case Event.GroupFailed(GroupId id, String _) -> end(id, "failed");
      case Event.GroupStale _ ->
          must(
              coordination.limits().step().stale() != StalePolicy.WAIT, "WAIT lost a group to age");
      default -> {}
    }
  }

  /** Fencing: only the newest lease of a group can end, and only once. */
  private void endLease(LeaseId lease) {
    must(lease.equals(current.remove(lease.group())), "%s counts and had ended", lease);
  }

  private void end(GroupId group, String fate) {
    must(prompts.containsKey(group), "%s ends and was never admitted", group);
    must(fates.put(group, fate) == null, "%s ends again, as %s", group, fate);
  }

  private void perform(Effect effect) {
    switch (effect) {
      case Effect.Grant(
              LeaseId lease,
              WorkerId to,
              int _,
              long _,
              int _,
              WeightVersion version) -> {
        granted.put(lease, version);
        if (outage != Outage.NONE
            && (!ofOneWorker || to.place().equals(workers.getFirst().place()))) {
          failAtOnce(lease, to);
        } else {
          answer(lease);
        }
      }
      case Effect.Train(long step, WeightVersion from, List<LeaseId> groups) -> {
        checkBatch(from, groups);
        inFlight.add(
            random.nextInt(60) == 0
                ? new Input.StepSkipped(step, "not finite")
                : new Input.StepTrained(step));
      }
      case Effect.SaveCheckpoint(long step, RunState saved, boolean last) -> {
        must(saved.equals(state), "a checkpoint is not of the end of its decision");
        checkpoint = saved;
        position = decisions.size();
        fatesAtCheckpoint = fates.size();
        promptsAtCheckpoint = prompts.size();
        atTrainerAtCheckpoint = new HashMap<>(atTrainer);
        usesAtCheckpoint = new HashMap<>(uses);
        inFlight.add(new Input.CheckpointSaved(step, last));
      }
      case Effect.Forget(LeaseId lease) -> atTrainer.remove(lease);
      case Effect.Stop(RunEnd how) -> end = Optional.of(how);
      case Effect.Release(WorkerId worker) ->
          must(
              state.leases().noneMatch(held -> held.worker().equals(worker)),
              "%s is let go while it has leases",
              worker);
      case Effect.Cancel _,
          Effect.Publish _,
          Effect.Evaluate _,
          Effect.RestartWorker _,
          Effect.DrainWorker _ -> {}
    }
  }

  private void failAtOnce(LeaseId lease, WorkerId worker) {
    switch (outage) {
      case NONE -> {}
      case ENGINES ->
          inFlight.add(new Input.GroupFailed(lease, new LeaseFailure.OfEngine("out of order")));
      case AGENTS ->
          inFlight.add(new Input.GroupFailed(lease, new LeaseFailure.OfEnvironment(AGENT)));
      case VERIFIERS -> {
        inFlight.add(new Input.GroupSampled(lease));
        inFlight.add(new Input.VerifierAway(lease, "nobody judges"));
      }
      case SILENT_VERIFIERS -> inFlight.add(new Input.GroupSampled(lease));
      case DEATHS -> {
        inFlight.add(new Input.WorkerLost(worker));
        if (workers.contains(worker)) {
          workers.set(
              workers.indexOf(worker),
              WorkerId.at(worker.place(), "%08d".formatted(random.nextInt(100_000_000))));
        }
      }
      case HANGS -> {}
    }
  }

  /** A worker draws tokens while weights move on: versions ascend from the granted one. */
  private void answer(LeaseId lease) {
    int dice = kind ? 99 : random.nextInt(100);
    if (dice < 4) {
      return; // The worker hangs.
    }
    if (dice < 7) {
      inFlight.add(new Input.GroupFailed(lease, failure()));
      return;
    }
    GroupSummary drawn = draw(lease, dice < 20);
    size().parts(drawn.rewards().size()).forEach(_ -> inFlight.add(new Input.GroupSampled(lease)));
    Input answer = new Input.GroupScored(drawn);
    undrawn.put(answer, dice < 20);
    inFlight.add(answer);
  }

  private LeaseFailure failure() {
    return switch (random.nextInt(4)) {
      case 0 ->
          random.nextBoolean()
              ? new LeaseFailure.OfEngine("the engine failed")
              : new LeaseFailure.OfEnvironment(AGENT);
      case 1 -> new LeaseFailure.OfVerifier("nobody judges");
      default -> new LeaseFailure.OfPrompt("a completion ends its verifier");
    };
  }

  private GroupSize size() {
    return coordination.limits().groups().size();
  }

  private GroupSummary draw(LeaseId lease, boolean degenerate) {
    long first = Objects.requireNonNull(granted.get(lease)).number();
    List<Double> rewards = new ArrayList<>();
    List<TokenVersions> versions = new ArrayList<>();
    List<EpisodeSummary> episodes = new ArrayList<>();
    for (int more = size().part(); more > 0; more = size().next(rewards)) {
      for (int i = 0; i < more; i++) {
        rewards.add(degenerate ? 1.0 : size().grows() ? random.nextInt(2) : i % 2);
      }
    }
    for (int i = 0; i < rewards.size(); i++) {
      long[] tokens = new long[1 + random.nextInt(3)];
      long version = first;
      for (int t = 0; t < tokens.length; t++) {
        version += random.nextInt(6) == 0 && version < state.version().number() ? 1 : 0;
        tokens[t] = version;
      }
      versions.add(TokenVersions.of(tokens));
      int turns = 1 + random.nextInt(tokens.length);
      int sequences = 1 + random.nextInt(turns);
      StopReason stop = STOP_REASONS.get(random.nextInt(STOP_REASONS.size()));
      episodes.add(new EpisodeSummary(turns, sequences, stop, turns - 1, 5, 7, 20));
    }
    return new GroupSummary(lease, rewards, versions, episodes);
  }

  /** S1, and the tokens of a step are there, once each, under the newest lease of their group. */
  private void checkBatch(WeightVersion from, List<LeaseId> leases) {
    must(from.equals(state.version()), "a step starts from %s", from);
    Set<GroupId> distinct = new HashSet<>();
    List<ScoredGroup> groups = new ArrayList<>();
    for (LeaseId lease : leases) {
      must(distinct.add(lease.group()), "%s is twice in a step", lease);
      must(!fates.containsKey(lease.group()), "%s is trained after its end", lease);
      must(atTrainer.containsKey(lease), "the tokens of %s are gone", lease);
      groups.add(group(Objects.requireNonNull(atTrainer.get(lease))));
    }
    RunLimits limits = coordination.limits();
    TrainingBatch batch = TrainingBatch.of(groups, LOSS, limits.bound(), from);
    weighed = LossTokens.of(batch.sequences());
    Iterator<TrainingSequence> trained = batch.sequences().iterator();
    for (ScoredGroup group : groups) {
      long young = 0;
      for (EpisodeSequence sequence : group.sequences()) {
        young += checkSequence(sequence, trained.next(), from, limits);
      }
      must(young > 0, "S1: nothing to train on in a group of the step");
    }
    must(!trained.hasNext(), "a step trains what no episode has");
  }

  /** Counts the young tokens, and holds every weight to them. */
  private long checkSequence(
      EpisodeSequence sequence, TrainingSequence trained, WeightVersion from, RunLimits limits) {
    long young = 0;
    int token = 0;
    for (Turn turn : sequence.turns()) {
      for (int i = 0; i < turn.observed().length; i++, token++) {
        must(trained.lossWeights()[token] == 0, "an observed token has loss weight");
      }
      for (TokenVersions.Span span : turn.completion().versions().spans()) {
        for (int i = 0; i < span.tokens(); i++, token++) {
          long staleness = from.number() - span.version().number();
          if (staleness > limits.step().maxStaleness()) {
            must(trained.lossWeights()[token] == 0, "S1: a stale token has loss weight");
            must(limits.step().stale() == StalePolicy.MASK, "S1: a stale token is in a step");
          } else {
            must(trained.lossWeights()[token] > 0, "a young token has no loss weight");
            young++;
          }
        }
      }
    }
    return young;
  }

  /** The tokens behind a summary: as many turns and sequences as it names. */
  private static ScoredGroup group(GroupSummary summary) {
    List<Episode> episodes = new ArrayList<>();
    for (int i = 0; i < summary.episodes().size(); i++) {
      episodes.add(episode(summary.lease(), summary.episodes().get(i), summary.versions().get(i)));
    }
    return new ScoredGroup(summary.lease(), new int[] {1}, episodes, summary.rewards());
  }

  private static Episode episode(LeaseId lease, EpisodeSummary summary, TokenVersions versions) {
    long[] all = new long[versions.tokens()];
    int filled = 0;
    for (TokenVersions.Span span : versions.spans()) {
      Arrays.fill(all, filled, filled + span.tokens(), span.version().number());
      filled += span.tokens();
    }
    OpenEpisode open = OpenEpisode.under(lease);
    int[] request = {1};
    for (int turn = 0; turn < summary.turns(); turn++) {
      int end = turn == summary.turns() - 1 ? all.length : turn + 1;
      long[] own = Arrays.copyOfRange(all, turn, end);
      int[] tokens = new int[own.length];
      Completion completion =
          new Completion(tokens, new float[own.length], TokenVersions.of(own), FinishReason.STOP);
      open =
          ((OpenEpisode.Recorded)
                  open.record(lease, new OpenEpisode.Answered("main", request, completion, 0, 0)))
              .episode();
      boolean extend = summary.turns() - turn > summary.sequences();
      request =
          extend ? Arrays.copyOf(request, request.length + own.length + 2) : new int[] {turn + 2};
    }
    return open.stopped(summary.stop());
  }

  /** After every input. Assertions are made of failures only: this runs six million times. */
  private void check() {
    RunLimits limits = coordination.limits();
    Ledger ledger = state.ledger();
    long running = state.leases().count();
    must(state.balanced(), "the books do not balance");
    must(running <= limits.groups().maxConcurrent(), "more leases than allowed");
    must(
        state.accepted(limits.step().uses()) + limits.step().uses() * running
            <= (limits.step().maxStaleness() + state.version().number() + 1)
                * limits.step().groups(),
        "more uses outstanding than the next eta + 1 steps consume");
    must(ledger.endedGroups() == fates.size(), "a group ended that the books do not know");
    must(ledger.admitted() == prompts.size(), "a group was admitted that the books do not know");
    long keptUses = 0;
    for (Group group : state.groups().values()) {
      must(!fates.containsKey(group.id()), "a group that ended is live");
      switch (group.stage()) {
        case Group.Buffered(GroupSummary summary, int before) -> {
          must(atTrainer.containsKey(summary.lease()), "the tokens of a buffered group are gone");
          keptUses += before;
        }
        case Group.Training step -> keptUses += step.uses();
        case Group.Waiting _, Group.Leased _ -> {}
      }
    }
    must(
        usesMade == ledger.trained() + ledger.reused() + keptUses,
        "the uses of groups are not those that the books name");
  }

  private void must(boolean rule, String failure, Object... values) {
    if (!rule) {
      throw new AssertionError(failure.formatted(values) + ": " + state);
    }
  }
}
