package io.troupe.runtime;

import akka.actor.typed.ActorRef;
import akka.actor.typed.Behavior;
import akka.actor.typed.PostStop;
import akka.actor.typed.Signal;
import akka.actor.typed.javadsl.AbstractOnMessageBehavior;
import akka.actor.typed.javadsl.ActorContext;
import akka.actor.typed.javadsl.Behaviors;
import akka.actor.typed.javadsl.TimerScheduler;
import io.troupe.core.outage.WorkerAbsence;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.run.Attribution;
import io.troupe.core.run.Coordination;
import io.troupe.core.run.Decision;
import io.troupe.core.run.Effect;
import io.troupe.core.run.Event;
import io.troupe.core.run.Input;
import io.troupe.core.run.OperatorCommand;
import io.troupe.core.run.Phase;
import io.troupe.core.run.ProcessFacts;
import io.troupe.core.run.RunEnd;
import io.troupe.core.run.RunState;
import io.troupe.core.run.Worker;
import io.troupe.core.train.GroupTokenMarks;
import io.troupe.core.train.LossTokens;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.runtime.prompt.Assignment;
import io.troupe.runtime.prompt.PromptPool;
import io.troupe.runtime.weights.PublishedWeights;
import io.troupe.runtime.weights.WeightPublisher;
import io.troupe.store.journal.Durability;
import io.troupe.store.journal.JournalWriter;
import io.troupe.store.segment.JournalPosition;
import io.troupe.store.state.RunJson;
import io.troupe.store.state.StateSnapshot;
import io.troupe.telemetry.RowQueue;
import io.troupe.telemetry.StepMeter;
import io.troupe.telemetry.StepRow;
import io.troupe.telemetry.StepScores;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * The shell around {@link Coordination}: takes inputs, journals the events of each decision, and
 * carries out its effects, in order, once its events are in the journal.
 *
 * <p>One append is under way at a time; later decisions wait for the next append. A disk that
 * stalls delays the run and does not end it. Nothing is granted, trained or published before it is
 * journalled, so the groups in flight, the workers and the operators bound how many decisions wait:
 * some four for each group of {@code rollout.max_concurrent_groups}.
 */
public final class Coordinator extends AbstractOnMessageBehavior<Coordinator.Command> {
  public sealed interface Command {}

  /** A worker has started and can be given groups. */
  public record Register(WorkerId worker, ActorRef<RolloutWorker.Command> ref)
      implements Command, WireMessage {}

  /** A rollout worker, of this JVM or another one, reports. */
  public record Report(Input.FromWorker input) implements Command, WireMessage {}

  /** Another part of this process has something to decide on. */
  public record Tell(Input input) implements Command {}

  /** An operator orders something. */
  public record Order(Input.FromOperator input, ActorRef<OrderReply> replyTo) implements Command {}

  /** The JVM at an address does not answer, so its workers count as lost. */
  public record HostLost(String address) implements Command {}

  /** The policy is ready, with these weights. */
  public record TrainerReady(WeightSnapshot snapshot) implements Command {}

  /** The answer to an order. */
  public sealed interface OrderReply {}

  /** The order is carried out. */
  public record OrderTaken() implements OrderReply {}

  /** The order is not carried out, and nothing changed. */
  public record OrderRefused(String reason) implements OrderReply {}

  record AttachTrainer(ActorRef<Trainer.Command> trainer) implements Command {}

  record StepDone(long step, TrainerTasks.Step result) implements Command {}

  /** The rows up to this step have reached the listener. */
  record RowsWritten(long step) implements Command {}

  /** The scores of a step's evaluations, for the rows that are not written. */
  record RowEvaluated(long step, StepScores scores) implements Command {}

  private record Journalled(JournalPosition at, List<Decided> decisions) implements Command {}

  private record Published(PublishedWeights weights) implements Command {}

  private record JournalFailed(Throwable cause) implements Command {}

  private record Tick() implements Command {}

  /**
   * The parts that a coordinator works with.
   *
   * @param process facts of this process's computation
   * @param resume the checkpoint to continue from
   * @param again whether the journal holds events of an earlier process
   * @param verification work of the verifier pools so far
   * @param cpuSeconds of this process so far
   */
  public record Wiring(
      Coordination coordination,
      PromptPool pool,
      WeightPublisher outlet,
      JournalWriter journal,
      ProcessFacts process,
      Optional<TrainerTasks.Resume> resume,
      boolean again,
      long lastFence,
      LongSupplier millis,
      Supplier<StepMeter.Verification> verification,
      DoubleSupplier cpuSeconds,
      ActorRef<Recorder.Command> recorder,
      ActorRef<Run.Command> run,
      RunListener listener) {}

  /** A decision whose events wait for the journal, and the row of the step it ends. */
  private record Decided(RunJson.Entry entry, Decision decision, Optional<StepRow> row) {}

  /** Decisions in one append, so that a record stays far from the journal's limit of 2 GiB. */
  private static final int MOST_IN_ONE_APPEND = 4096;

  private static final Duration TICK = Duration.ofMillis(500);

  private final Wiring wiring;
  private final Map<WorkerId, ActorRef<RolloutWorker.Command>> workers = new HashMap<>();
  private final StepMeter meter;
  private final Deque<Decided> waiting = new ArrayDeque<>();

  /** Rows that the next checkpoint carries; the rule is at {@link RowQueue}. */
  private RowQueue unwritten = RowQueue.EMPTY;

  private boolean appending;
  private WorkerAbsence absence;
  private RunState state;
  private Optional<WeightSnapshot> weights = Optional.empty();
  private Optional<PublishedWeights> published = Optional.empty();
  private boolean publishing;
  private Optional<ActorRef<Trainer.Command>> trainer = Optional.empty();

  /** A coordinator that waits for the trainer to be ready. */
  public static Behavior<Command> create(Wiring wiring) {
    return Behaviors.setup(
        context -> Behaviors.withTimers(timers -> new Coordinator(context, timers, wiring)));
  }

  private Coordinator(
      ActorContext<Command> context, TimerScheduler<Command> timers, Wiring wiring) {
    super(context);
    this.wiring = wiring;
    this.state = RunState.INITIAL;
    this.meter = new StepMeter(wiring.millis().getAsLong());
    this.absence = WorkerAbsence.none(wiring.millis().getAsLong());
    timers.startTimerWithFixedDelay(new Tick(), TICK);
    if (wiring.again()) {
      commit(wiring.coordination().resetJournal(wiring.lastFence()), Optional.empty());
    }
  }

  @Override
  public Behavior<Command> onMessage(Command command) {
    switch (command) {
      case Register(WorkerId worker, ActorRef<RolloutWorker.Command> ref) ->
          onRegister(worker, ref);
      case Report(Input.FromWorker input) -> onReport(input);
      case Tell(Input input) -> handle(input);
      case Order(Input.FromOperator input, ActorRef<OrderReply> replyTo) -> onOrder(input, replyTo);
      case HostLost(String address) -> onHostLost(address);
      case TrainerReady(WeightSnapshot snapshot) -> onTrainerReady(snapshot);
      case AttachTrainer(ActorRef<Trainer.Command> ref) -> trainer = Optional.of(ref);
      case StepDone(long step, TrainerTasks.Step result) -> onStepDone(step, result);
      case RowsWritten(long step) -> unwritten = unwritten.afterStep(step);
      case RowEvaluated(long step, StepScores scores) ->
          unwritten = unwritten.evaluated(step, scores);
      case Journalled(JournalPosition at, List<Decided> decisions) -> onJournalled(at, decisions);
      case Published(PublishedWeights out) -> onPublished(out);
      case JournalFailed(Throwable cause) -> onJournalFailed(cause);
      case Tick _ -> onTick();
    }
    return this;
  }

  private void onRegister(WorkerId worker, ActorRef<RolloutWorker.Command> ref) {
    workers.put(worker, ref);
    // A restarted worker comes as a new worker behind the same reference.
    getContext().unwatch(ref);
    getContext().watchWith(ref, new Report(new Input.WorkerLost(worker)));
    published.ifPresent(out -> ref.tell(new RolloutWorker.WeightsPublished(out)));
  }

  private void onReport(Input.FromWorker input) {
    switch (input) {
      case Input.DemandRaised(WorkerId worker, long _) when !workers.containsKey(worker) -> {
        // The run has given this worker up, so no grant would reach it.
      }
      case Input.WorkerLost(WorkerId worker) -> onWorkerLost(worker);
      case Input.DemandRaised _,
          Input.WorkerRetired _,
          Input.GroupSampled _,
          Input.GroupFailed _,
          Input.VerifierAway _ ->
          handle(input);
    }
  }

  private void onWorkerLost(WorkerId worker) {
    workers.remove(worker);
    handle(new Input.WorkerLost(worker));
  }

  private void onOrder(Input.FromOperator input, ActorRef<OrderReply> replyTo) {
    Decision decision = decide(input);
    commit(decision, Optional.empty());
    replyTo.tell(reply(decision));
  }

  private static OrderReply reply(Decision decision) {
    for (Event event : decision.events()) {
      if (event instanceof Event.OrderTaken) {
        return new OrderTaken();
      }
      if (event instanceof Event.OrderRefused(OperatorCommand _, Attribution _, String reason)) {
        return new OrderRefused(reason);
      }
    }
    return new OrderRefused("the run has ended");
  }

  private void onHostLost(String address) {
    workers.entrySet().stream()
        .filter(entry -> entry.getValue().path().address().toString().equals(address))
        .map(Map.Entry::getKey)
        .toList()
        .forEach(this::onWorkerLost);
  }

  private void onTrainerReady(WeightSnapshot snapshot) {
    if (state.phase() instanceof Phase.Ended) {
      return; // A drain or a failure came first.
    }
    weights = Optional.of(snapshot);
    handle(new Input.ProcessStarted(wiring.process()));
    handle(new Input.WeightsMade(snapshot.version(), snapshot.digest()));
    // The state already has the demand of workers that came before the trainer was ready. A
    // resumed run gets it once more, since a checkpoint has only workers of the past.
    Map<WorkerId, Worker> early = state.workers();
    if (wiring.resume().isEmpty()) {
      Decision begin = decide(new Input.Begin());
      commit(
          begin,
          evaluates(begin.effects())
              ? Optional.of(StepRow.before(wiring.millis().getAsLong() / 1000.0))
              : Optional.empty());
    } else {
      TrainerTasks.Resume from = wiring.resume().get();
      writeMissing(from.rows());
      commit(wiring.coordination().resume(from.state(), wiring.lastFence()), Optional.empty());
      early.forEach((id, known) -> handle(new Input.DemandRaised(id, known.asked())));
    }
  }

  private void writeMissing(RowQueue missing) {
    unwritten = missing;
    wiring.run().tell(new Run.RowsMissing(missing));
    missing
        .awaitedEvaluation()
        .ifPresent(step -> wiring.run().tell(new Run.EvaluationDue(step, held())));
  }

  private void onStepDone(long step, TrainerTasks.Step result) {
    switch (result) {
      case TrainerTasks.WeightsUpdated(
              StepMetrics metrics,
              LossTokens tokens,
              List<GroupTokenMarks> groups,
              WeightSnapshot snapshot) -> {
        weights = Optional.of(snapshot);
        handle(new Input.LossTokensCounted(step, tokens));
        handle(new Input.WeightsMade(snapshot.version(), snapshot.digest()));
        wiring.recorder().tell(new Recorder.Trained(step, groups));
        Decision decision = decide(new Input.StepTrained(step));
        long now = wiring.millis().getAsLong();
        commit(
            decision,
            Optional.of(
                meter.row(
                    step,
                    metrics.reading(),
                    wiring.verification().get(),
                    wiring.cpuSeconds().getAsDouble(),
                    now)));
      }
      case TrainerTasks.WeightsKept(String reason, boolean empty) -> {
        getContext().getLog().warn("step_skipped step={} reason=\"{}\"", step, reason);
        handle(new Input.StepSkipped(step, reason, empty));
      }
    }
  }

  private void onTick() {
    long now = wiring.millis().getAsLong();
    if (workers.isEmpty() && state.phase() instanceof Phase.Running && !state.controls().paused()) {
      Optional<String> sentence = absence.sentence(now);
      if (sentence.isPresent()) {
        wiring.run().tell(new Run.Note(sentence.get()));
        absence = absence.said(now);
      }
      handle(new Input.WorkersMissing(absence.since()));
    } else {
      absence = WorkerAbsence.none(now);
    }
    handle(new Input.Tick());
  }

  private void handle(Input input) {
    commit(decide(input), Optional.empty());
  }

  private Decision decide(Input input) {
    return wiring.coordination().decide(state, input, wiring.millis().getAsLong());
  }

  /** Journals a decision, and carries it out once it is journalled. */
  private void commit(Decision decision, Optional<StepRow> row) {
    long now = wiring.millis().getAsLong();
    state = decision.state();
    long at = System.currentTimeMillis();
    decision.events().forEach(event -> observe(at, event));
    meter.observe(state, now);
    if (decision.events().isEmpty()) {
      return;
    }
    waiting.add(new Decided(new RunJson.Entry(at, decision.events()), decision, row));
    append();
    if (decision.saves()) {
      handle(new Input.Tick());
    }
  }

  private void append() {
    if (appending || waiting.isEmpty()) {
      return;
    }
    appending = true;
    List<Decided> next = new ArrayList<>();
    boolean saves = false;
    boolean synced = false;
    while (!waiting.isEmpty() && next.size() < MOST_IN_ONE_APPEND && !saves) {
      next.add(waiting.remove());
      saves = next.getLast().decision().saves();
      synced |= next.getLast().decision().outlivesTheMachine();
    }
    getContext()
        .pipeToSelf(
            wiring
                .journal()
                .append(
                    next.stream().map(one -> RunJson.encode(one.entry())).toList(),
                    synced ? Durability.SYNCED : Durability.WRITTEN),
            (position, failure) ->
                failure == null ? new Journalled(position, next) : new JournalFailed(failure));
  }

  private void observe(long at, Event event) {
    meter.event(event);
    wiring.listener().happened(at, event);
    wiring.recorder().tell(new Recorder.Happened(event, state.version()));
  }

  private void onJournalled(JournalPosition at, List<Decided> decisions) {
    appending = false;
    append();
    decisions.forEach(one -> carryOut(at, one.decision().effects(), one.row()));
  }

  private void carryOut(JournalPosition at, List<Effect> effects, Optional<StepRow> row) {
    boolean evaluated = evaluates(effects);
    if (row.isPresent()) {
      unwritten = unwritten.add(row.get(), evaluated);
      wiring.run().tell(new Run.StepMade(row.get(), evaluated));
    }
    Map<WorkerId, List<Assignment>> grants = new LinkedHashMap<>();
    WeightVersion atLeast = WeightVersion.BASE;
    for (Effect effect : effects) {
      if (effect
          instanceof
          Effect.Grant(
              var lease,
              var worker,
              int prompt,
              long epoch,
              int draws,
              WeightVersion version)) {
        atLeast = version; // one decision grants at one version
        grants
            .computeIfAbsent(worker, _ -> new ArrayList<>())
            .add(wiring.pool().assignment(lease, prompt, epoch, draws));
      } else {
        perform(effect, at);
      }
    }
    // All grants of one decision reach a worker together, so that they are decoded together.
    for (Map.Entry<WorkerId, List<Assignment>> grant : grants.entrySet()) {
      tell(grant.getKey(), new RolloutWorker.Produce(atLeast, grant.getValue()));
    }
  }

  private static boolean evaluates(List<Effect> effects) {
    return effects.stream().anyMatch(Effect.Evaluate.class::isInstance);
  }

  private void perform(Effect effect, JournalPosition at) {
    switch (effect) {
      case Effect.Grant _ -> throw new IllegalStateException("grants are handed out together");
      case Effect.Cancel(LeaseId lease, WorkerId worker) ->
          tell(worker, new RolloutWorker.Cancel(lease));
      case Effect.Release(WorkerId worker) -> tell(worker, new RolloutWorker.Released());
      case Effect.Forget(LeaseId lease) -> trainer().tell(new Trainer.Forget(lease));
      case Effect.Train(long step, WeightVersion from, List<LeaseId> groups) ->
          trainer().tell(new Trainer.Train(step, from, groups));
      case Effect.Publish(WeightVersion _) -> publish();
      case Effect.Evaluate(long step, WeightVersion _) ->
          wiring.run().tell(new Run.EvaluationDue(step, held()));
      case Effect.SaveCheckpoint(long step, RunState saved, boolean last) ->
          trainer().tell(new Trainer.Save(step, new StateSnapshot(at, saved), unwritten, last));
      case Effect.RestartWorker(WorkerId worker) -> tell(worker, new RolloutWorker.Restart());
      case Effect.DrainWorker(WorkerId worker) -> tell(worker, new RolloutWorker.Drain());
      case Effect.Stop(RunEnd end) -> wiring.run().tell(new Run.Stopped(end, state));
    }
  }

  /** Publishes the newest weights; versions that a newer one has overtaken are never published. */
  private void publish() {
    if (!publishing) {
      publishing = true;
      WeightSnapshot newest = held();
      getContext()
          .pipeToSelf(
              wiring.outlet().publish(newest),
              (out, failure) ->
                  failure == null
                      ? new Published(out)
                      : new Tell(
                          new Input.Broken(
                              "publishing %s failed: %s"
                                  .formatted(newest.version(), FailureCause.message(failure)))));
    }
  }

  private void onPublished(PublishedWeights out) {
    publishing = false;
    published = Optional.of(out);
    workers.values().forEach(ref -> ref.tell(new RolloutWorker.WeightsPublished(out)));
    if (!held().version().equals(out.version())) {
      publish();
    }
  }

  private void onJournalFailed(Throwable cause) {
    // No effect may come without its event in the journal, so the run ends at once.
    wiring.run().tell(new Run.Stopped(new RunEnd.Failed(FailureCause.message(cause)), state));
  }

  @Override
  public Behavior<Command> onSignal(Signal signal) {
    if (signal instanceof PostStop) {
      wiring.run().tell(new Run.Interrupted(state)); // If the run has ended, Stopped came first.
    }
    return this;
  }

  private void tell(WorkerId worker, RolloutWorker.Command command) {
    ActorRef<RolloutWorker.Command> ref = workers.get(worker);
    if (ref != null) {
      ref.tell(command);
    }
  }

  private WeightSnapshot held() {
    return weights.orElseThrow();
  }

  private ActorRef<Trainer.Command> trainer() {
    return trainer.orElseThrow();
  }
}
