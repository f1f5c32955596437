package io.troupe.telemetry.view;

import io.troupe.core.completion.TokenVersions;
import io.troupe.core.rollout.Admission;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.GroupSummary;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.run.Controls;
import io.troupe.core.run.Event;
import io.troupe.core.run.GroupEvent;
import io.troupe.core.run.OperatorCommand;
import io.troupe.core.run.RunState;
import io.troupe.core.run.group.Group;
import io.troupe.core.run.group.Ledger;
import io.troupe.core.trace.LineBacklog;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A run as its events report it, kept in bounded memory: the one fold behind the console, its API
 * and its command line, live and on the journal of a dead run.
 *
 * <p>It counts rather than keeps {@link RunState}, because an event must cost the coordinator's
 * thread about a microsecond, however many groups are live and workers have been; a property test
 * holds its counts against that state. Safe for use by several threads. Times are milliseconds
 * since 1970.
 */
public final class RunFold {
  static final long WINDOW_MILLIS = 60_000;
  private static final int MAX_ENDED = 10_000;
  private static final int MAX_ROWS = 20_000;
  private static final int MAX_POINTS = 2_000;
  private static final int MAX_MARKS = 500;
  private static final int OLDEST = 64;

  /** The part that the loop waits for, seen from the trainer, as the step's metrics have it. */
  static final int WORKERS = 0;

  static final int ROLLOUT = 1;
  static final int VERIFIER = 2;
  static final int TRAINER = 3;

  /** An event with its address. */
  record Seen(long sequence, long at, Event event) {}

  final RunViewSettings facts;
  private final int keptEvents;
  private final List<Deque<Seen>> rings = List.of(ring(), ring(), ring());
  final Map<Long, GroupTimeline> live;
  private final StageCounts stages = new StageCounts();
  private final SortedMap<Long, GroupTimeline> training = new TreeMap<>();
  final Map<Long, GroupTimeline> ended = new LinkedHashMap<>();
  final InfrastructureTroubles troubles = new InfrastructureTroubles();
  final WorkerTimelines workers;
  final Deque<Map<String, Object>> rows = new ArrayDeque<>();
  final Deque<RunView.Point> points = new ArrayDeque<>();
  final Deque<RunView.Mark> marks = new ArrayDeque<>();
  final Deque<RunView.Bar> published = new ArrayDeque<>();
  final Deque<Long> scoredAt = new ArrayDeque<>();
  final ReasonCounts refusals = new ReasonCounts();

  final LossReasons losses = new LossReasons();
  final long[] stalenessTrained = new long[OLDEST];
  final StateTimeShares admission = new StateTimeShares(2, WINDOW_MILLIS, 0);
  final StateTimeShares verification = new StateTimeShares(2, WINDOW_MILLIS, 0);
  final StateTimeShares buffer = new StateTimeShares(3, WINDOW_MILLIS, 0);
  final StateTimeShares train = new StateTimeShares(3, WINDOW_MILLIS, 0);
  final StateTimeShares cause = new StateTimeShares(4, WINDOW_MILLIS, 0);
  long sequence;
  long firstAt;
  long lastAt;
  String phase = "starting";
  String end = "";
  long version;
  Controls controls = Controls.NONE;
  long pausedAt;
  String pausedBy = "";
  long stepStartedAt;
  long lastStepAt;
  long demand;
  long demandSince;
  long traceLinesRefused;
  CopyView copy = CopyView.NONE;
  private long rowsSeen;
  private Ledger ledger = Ledger.EMPTY;

  /**
   * A fold of nothing.
   *
   * @param keptEvents newest events kept at each density
   */
  public RunFold(RunViewSettings facts, int keptEvents) {
    this(facts, keptEvents, new TreeMap<>(), new TreeMap<>());
  }

  /** A fold that keeps live groups and workers in these maps, which are empty and sorted. */
  RunFold(
      RunViewSettings facts,
      int keptEvents,
      Map<Long, GroupTimeline> live,
      Map<String, WorkerTimeline> workers) {
    this.facts = facts;
    this.keptEvents = keptEvents;
    this.live = live;
    this.workers = new WorkerTimelines(workers);
  }

  private static <T> Deque<T> ring() {
    return new ArrayDeque<>();
  }

  /** Applies an event; events come in order. */
  public synchronized void event(long at, Event event) {
    sequence++;
    if (firstAt == 0) {
      firstAt = at;
      List.of(admission, verification, buffer, train, cause).forEach(clock -> clock.begin(at));
    }
    lastAt = Math.max(lastAt, at);
    for (int density = EventText.density(event); density < rings.size(); density++) {
      push(rings.get(density), new Seen(sequence, at, event), keptEvents);
    }
    var _ = troubles.event(at, event);
    apply(at, event);
    settle(at);
  }

  /**
   * A row of metrics.
   *
   * @param row values by name, as in metrics.jsonl
   */
  public synchronized void row(Map<String, Object> row) {
    rowsSeen++;
    push(rows, row, MAX_ROWS);
  }

  /** Lines of the traces wait for their disk, and some were refused. */
  public synchronized void traces(long at, LineBacklog backlog) {
    traceLinesRefused = backlog.refused();
    var _ = troubles.traces(at, backlog);
  }

  /** Notes the progress of the run's copy. */
  public synchronized void copy(long at, CopyView next) {
    copy = next;
    var _ = troubles.copy(at, next);
  }

  /** Whether a tracker fails ("" if it does not), and the last step that it has. */
  public synchronized void tracker(long at, String name, long step, String problem) {
    var _ = troubles.tracker(at, name, step, problem);
  }

  /** Returns the view of the run at a moment. */
  public synchronized RunView view(long now) {
    return new RunSnapshot(this, now).run();
  }

  /** Staleness against its bound. */
  public synchronized RunView.Staleness staleness(long now) {
    return new RunSnapshot(this, now).staleness();
  }

  /** Returns which process holds which weights. */
  public synchronized RunView.Weights weights(long now) {
    return new RunSnapshot(this, now).weights();
  }

  /**
   * Returns who waits for whom.
   *
   * @param heldTurns one for each thing that turns wait for beside the policy, in any order
   */
  public synchronized RunView.Waits waits(long now, List<RunView.Wait> heldTurns) {
    return new WaitGraph(this, now, heldTurns).waits();
  }

  /** Groups that a query takes, in its order. */
  public synchronized List<GroupRow> groups(GroupQuery query) {
    List<GroupTimeline> found = new ArrayList<>();
    live.values().stream().filter(query::takes).forEach(found::add);
    ended.values().stream().filter(query::takes).forEach(found::add);
    return found.stream()
        .sorted(query.comparator())
        .limit(query.limit())
        .map(GroupTimeline::row)
        .toList();
  }

  /** A group, if it is live or among the last that ended. */
  public synchronized Optional<GroupRow> group(long number) {
    GroupTimeline life = live.get(number);
    return Optional.ofNullable(life == null ? ended.get(number) : life).map(GroupTimeline::row);
  }

  /**
   * Events after a number, oldest first.
   *
   * @param density 0 to 2, as in {@link EventText}
   * @param limit most rows, the newest ones
   */
  public synchronized List<EventText> events(long after, int density, int limit) {
    List<EventText> found = new ArrayList<>();
    var newest = rings.get(density).descendingIterator();
    while (newest.hasNext() && found.size() < limit) {
      Seen seen = newest.next();
      if (seen.sequence() <= after) {
        break;
      }
      found.add(EventText.of(seen.sequence(), seen.at(), seen.event()));
    }
    return found.reversed();
  }

  /** The events that concern a group, of those still kept, oldest first. */
  public synchronized List<EventText> eventsOf(long group) {
    return rings.getLast().stream()
        .map(seen -> EventText.of(seen.sequence(), seen.at(), seen.event()))
        .filter(line -> line.group() == group)
        .toList();
  }

  /** Rows of metrics after the first {@code after}, oldest first. */
  public synchronized List<Map<String, Object>> rows(long after) {
    return rows.stream().skip(Math.max(0, rows.size() - (rowsSeen - after))).toList();
  }

  /** Returns the number of rows so far. */
  public synchronized long rowsSeen() {
    return rowsSeen;
  }

  /** Moments that curves mark, oldest first. */
  public synchronized List<RunView.Mark> marks() {
    return List.copyOf(marks);
  }

  /** The number of the newest event. */
  public synchronized long sequence() {
    return sequence;
  }

  private void apply(long at, Event event) {
    switch (event) {
      case GroupEvent moved -> moved(at, moved);
      case Event.RunStarted _ -> {
        phase = "running";
        workers.awaited(at);
      }
      case Event.RunResumed(RunState state) -> resumed(state, at);
      case Event.DemandRaised(var worker, long total) ->
          worker(worker.value(), at).asked(total, at);
      case Event.AnswerRefused(LeaseId _, String reason) -> {
        ledger = ledger.refuse();
        refusals.add(reason);
      }
      case Event.WorkerLost(var worker) ->
          workers.known(worker.value()).ifPresent(life -> life.gone(at));
      case Event.WorkerRetired(var worker) ->
          workers.known(worker.value()).ifPresent(life -> life.retired(at));
      case Event.OrderTaken(OperatorCommand verb, var order) -> {
        controls = controls.after(verb, count("training") > 0);
        if (verb instanceof OperatorCommand.PauseAdmission) {
          pausedAt = at;
          pausedBy = order.by();
        }
        mark("order", at, order.by() + ": " + EventText.words(verb));
      }
      case Event.NodeSkipped(String node, var missed, String _) ->
          mark("node", at, "%s is behind, %s".formatted(node, missed));
      case Event.NodeCaughtUp(String node, var held) ->
          mark("node", at, "%s caught up, %s".formatted(node, held));
      case Event.DrainStarted _ -> phase = "draining";
      case Event.SavingStarted _ -> phase = "saving";
      case Event.RunEnded(var how) -> {
        phase = "ended";
        end = EventText.words(how);
        workers.removeGone(at);
      }
      default -> {}
    }
  }

  private void mark(String kind, long at, String text) {
    push(marks, new RunView.Mark(version, at, kind, text), MAX_MARKS);
  }

  private void moved(long at, GroupEvent event) {
    switch (event) {
      case Event.GroupAdmitted(var group, int prompt, long epoch, var _) -> {
        ledger = ledger.admit();
        live.put(group.number(), new GroupTimeline(group.number(), prompt, epoch, at, stages));
      }
      case Event.LeaseGranted(var lease, var worker, var at0, long _) -> {
        ledger = ledger.grant();
        GroupTimeline life = timeline(lease, at);
        life.worker = worker.value();
        life.fence = lease.fence();
        life.version = at0.number();
        life.leasedAt = at;
        life.stage("sampling", at);
        worker(worker.value(), at).granted(at0.number(), at);
      }
      case Event.LeaseSampled(LeaseId lease, long _) -> {
        GroupTimeline life = timeline(lease, at);
        life.sampledAt = at;
        life.stage("verifying", at);
        workers.known(life.worker).ifPresent(worker -> worker.sampled(at));
      }
      case GroupEvent.Requeued requeued -> {
        GroupTimeline life = timeline(requeued.lease(), at);
        if (life.leased()) {
          boolean verifying = life.stage.equals("verifying");
          workers.known(life.worker).ifPresent(worker -> worker.released(verifying, at));
        }
        life.requeued(requeued.cause(), at);
        var _ = losses.requeued(requeued);
        ledger = ledger.end(requeued.reason());
      }
      case Event.GroupBuffered(GroupSummary summary) -> scored(summary, at).stage("buffered", at);
      case Event.GroupFiltered(GroupSummary summary) -> {
        GroupTimeline life = scored(summary, at);
        life.staleness = Math.max(0, version - summary.oldest().number());
        finish(life, "filtered", at);
        ledger = ledger.filter();
      }
      case Event.GroupFailed(var group, String reason) -> {
        GroupTimeline life = live.get(group.number());
        if (life != null) {
          life.trouble = reason;
          finish(life, "failed", at);
        }
        ledger = ledger.giveUp();
      }
      case Event.StepStarted(long step, var groups) -> {
        stepStartedAt = at;
        for (GroupId group : groups) {
          GroupTimeline life = live.get(group.number());
          if (life != null) {
            train(life, step, at);
          }
        }
      }
      case Event.StepTrained(long step, List<GroupId> kept) -> stepped(step, kept, at);
      case Event.GroupSpent(LeaseId lease) -> {
        GroupTimeline life = live.get(lease.group().number());
        if (life != null) {
          endTrained(life, at);
        }
      }
      case Event.StepSkipped _ -> {
        for (GroupTimeline life : training.values()) {
          if (life.uses > 0) {
            endTrained(life, at);
          } else {
            finish(life, "skipped", at);
            ledger = ledger.skip(1);
          }
        }
        training.clear();
        controls = controls.checkpointAsked(false);
      }
    }
  }

  private void resumed(RunState state, long at) {
    version = state.version().number();
    phase = "running";
    end = "";
    controls = state.controls().checkpointAsked(false);
    workers.removeGone(at);
    workers.awaited(at);
    live.clear();
    stages.clear();
    training.clear();
    ledger = state.ledger();
    for (Group group : state.groups().values()) {
      GroupTimeline life =
          new GroupTimeline(group.id().number(), group.prompt(), group.epoch(), at, stages);
      life.attempts = group.attempts();
      switch (group.stage()) {
        case Group.Buffered(GroupSummary summary, int uses) -> {
          life.holds(summary, "buffered", at);
          life.uses = uses;
        }
        case Group.Training(GroupSummary summary, int uses) -> {
          life.holds(summary, "training", at);
          life.uses = uses;
          training.put(life.group, life);
        }
        case Group.Waiting _, Group.Leased _ -> {}
      }
      live.put(life.group, life);
    }
    mark("restart", at, "continues from v" + version);
  }

  private GroupTimeline scored(GroupSummary summary, long at) {
    GroupTimeline life = timeline(summary.lease(), at);
    boolean verifying = life.stage.equals("verifying");
    workers
        .known(life.worker)
        .ifPresent(
            worker -> {
              worker.released(verifying, at);
              worker.answered(summary.newest().number(), summary.tokens(), at);
            });
    life.answer = List.of(summary);
    life.scoredAt = at;
    scoredAt.add(at);
    while (!scoredAt.isEmpty() && scoredAt.getFirst() < at - WINDOW_MILLIS) {
      scoredAt.removeFirst();
    }
    return life;
  }

  private void train(GroupTimeline life, long step, long at) {
    GroupSummary summary = life.answer.getFirst();
    life.staleness = Math.max(0, version - summary.oldest().number());
    life.step = step;
    life.stage("training", at);
    training.put(life.group, life);
    for (TokenVersions versions : summary.versions()) {
      for (TokenVersions.Span span : versions.spans()) {
        long staleness = version - span.version().number();
        if (staleness <= facts.maxStaleness()) {
          stalenessTrained[Math.clamp(staleness, 0, OLDEST - 1)] += span.tokens();
        }
      }
    }
  }

  private void stepped(long step, List<GroupId> kept, long at) {
    for (GroupTimeline life : training.values()) {
      life.uses++;
      if (kept.contains(new GroupId(life.group))) {
        life.stage("buffered", at);
      } else {
        endTrained(life, at);
      }
    }
    training.clear();
    version = step;
    lastStepAt = at;
    controls = controls.checkpointAsked(false);
    push(published, new RunView.Bar(step, at, at), MAX_POINTS);
    push(
        points,
        new RunView.Point(
            step, at, count("sampling") + count("verifying"), count("buffered"), capacity()),
        MAX_POINTS);
  }

  private void endTrained(GroupTimeline life, long at) {
    finish(life, "trained", at);
    ledger = ledger.train(1, life.uses);
  }

  /** Charges the time until now to what each stage did, and notes what it does from now on. */
  private void settle(long at) {
    boolean samples = count("sampling") > 0;
    boolean verifies = count("verifying") > 0;
    boolean trains = count("training") > 0;
    long buffered = count("buffered");
    long asked = workers.demand();
    if (demand == 0 || asked == 0) {
      demandSince = at;
    }
    demand = asked;
    boolean over = phase.equals("ended");
    admission.to(asked > 0 && !over ? 1 : 0, at);
    verification.to(verifies ? 1 : 0, at);
    boolean ready = buffered >= facts.groupsPerStep();
    buffer.to(ready ? 2 : buffered > 0 ? 1 : 0, at);
    train.to(trains ? 1 : ready && !over ? 2 : 0, at);
    cause.to(trains ? TRAINER : samples ? ROLLOUT : verifies ? VERIFIER : WORKERS, at);
  }

  long count(String stage) {
    return stages.of(stage);
  }

  long capacity() {
    long running = count("sampling") + count("verifying");
    return Admission.capacity(
        controls.concurrency() > 0 ? controls.concurrency() : facts.maxConcurrentGroups(),
        running,
        ledger.trained()
            + ledger.reused()
            + facts.groupUses() * (count("buffered") + count("training")),
        version,
        facts.groupsPerStep(),
        facts.maxStaleness(),
        facts.groupUses());
  }

  GroupAccounting accounting() {
    return new GroupAccounting(
        ledger,
        count("waiting"),
        count("sampling") + count("verifying"),
        count("buffered"),
        count("training"));
  }

  private GroupTimeline timeline(LeaseId lease, long at) {
    // A journal may be read from a point after the admission; then the group begins here.
    return live.computeIfAbsent(
        lease.group().number(), number -> new GroupTimeline(number, -1, -1, at, stages));
  }

  private WorkerTimeline worker(String name, long at) {
    return workers.of(name, at);
  }

  private void finish(GroupTimeline life, String fate, long at) {
    life.end(fate, at);
    live.remove(life.group);
    ended.put(life.group, life);
    if (ended.size() > MAX_ENDED) {
      ended.remove(ended.keySet().iterator().next());
    }
  }

  private static <T> void push(Deque<T> ring, T value, int capacity) {
    ring.addLast(value);
    if (ring.size() > capacity) {
      ring.removeFirst();
    }
  }
}
