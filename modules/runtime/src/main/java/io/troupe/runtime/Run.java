package io.troupe.runtime;

import akka.actor.typed.ActorRef;
import akka.actor.typed.Behavior;
import akka.actor.typed.ChildFailed;
import akka.actor.typed.DispatcherSelector;
import akka.actor.typed.Signal;
import akka.actor.typed.Terminated;
import akka.actor.typed.javadsl.AbstractOnMessageBehavior;
import akka.actor.typed.javadsl.ActorContext;
import akka.actor.typed.javadsl.Behaviors;
import io.troupe.core.run.Input;
import io.troupe.core.run.RunEnd;
import io.troupe.core.run.RunState;
import io.troupe.core.trace.LineBacklog;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.telemetry.RowQueue;
import io.troupe.telemetry.StepRow;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/**
 * The guardian of a run: starts the actors of the loop, gives the rows of the steps to the listener
 * in order, and ends once the coordinator has ended the run and the last evaluation has come.
 *
 * <p>The guardian watches every actor of the loop. An actor that fails has broken an invariant, and
 * its state is lost, so the run ends as failed and resumes from its last checkpoint. Two failures
 * do not end the run: a worker is started again, since other workers take its leases, and an
 * evaluator is replaced, since an evaluation is no part of the training.
 *
 * <p>A coordinator that fails cannot write the end of the run into the journal. So the guardian
 * fails too: the journal then reads as after a crash, and on a cluster a standby continues the run.
 */
public final class Run extends AbstractOnMessageBehavior<Run.Command> {
  public sealed interface Command {}

  /** The row of a finished step; {@code evaluated} is true if its evaluation follows. */
  record StepMade(StepRow row, boolean evaluated) implements Command {}

  /** The rows that a resumed run writes before all others. */
  record RowsMissing(RowQueue missing) implements Command {}

  record EvaluationDue(long step, WeightSnapshot weights) implements Command {}

  record Evaluated(long step, StepEvaluations.Outcome outcome) implements Command {}

  record EvaluationFailed(long step, String reason) implements Command {}

  record Warming(TrainerTasks.WarmupProgress progress) implements Command {}

  record Note(String sentence) implements Command {}

  record TracesRefused(LineBacklog backlog) implements Command {}

  record GroupJudged(Recorder.Judged judged) implements Command {}

  record Stopped(RunEnd end, RunState state) implements Command {}

  /** The last state of a coordinator that stops before the run has ended. */
  record Interrupted(RunState state) implements Command {}

  /** The actors that operators and the workers of other JVMs send to. */
  public record RunActors(
      ActorRef<Coordinator.Command> coordinator,
      ActorRef<Trainer.Command> trainer,
      ActorRef<Recorder.Command> recorder) {}

  /** The trainer's name below the guardian of a run. */
  public static final String TRAINER = "trainer";

  /** The recorder's name below the guardian of a run. */
  public static final String RECORDER = "recorder";

  private static final String COORDINATOR = "coordinator";
  private static final String EVALUATOR = "evaluator";
  private static final String VERIFIERS = "verifiers";
  private static final String WORKER = "rollout-";

  private final RunWiring wiring;
  private final ActorRef<Recorder.Command> recorder;
  private final ActorRef<Coordinator.Command> coordinator;
  private final TrainerTasks workshop;
  private final Deque<EvaluationDue> evaluations = new ArrayDeque<>();
  private ActorRef<Evaluator.Command> evaluator;
  private RowQueue rows = RowQueue.EMPTY;
  private RunState last = RunState.INITIAL;
  private Optional<Stopped> stopped = Optional.empty();

  /** Whether the recorder still takes what happened. */
  private boolean recording = true;

  /** Whether the recorder was told to write what it has, and to stop. */
  private boolean closing;

  /** A run that starts at once. */
  public static Behavior<Command> create(RunWiring wiring) {
    return Behaviors.setup(context -> new Run(context, wiring));
  }

  private Run(ActorContext<Command> context, RunWiring wiring) {
    super(context);
    this.wiring = wiring;
    this.recorder =
        context.spawn(
            Recorder.create(
                wiring.traces(),
                judged -> context.getSelf().tell(new GroupJudged(judged)),
                backlog -> context.getSelf().tell(new TracesRefused(backlog))),
            RECORDER,
            DispatcherSelector.blocking());
    this.coordinator =
        context.spawn(
            Coordinator.create(wiring.coordinator(recorder, context.getSelf())), COORDINATOR);
    this.evaluator = newEvaluator();
    this.workshop = wiring.workshop(progress -> context.getSelf().tell(new Warming(progress)));
    ActorRef<Trainer.Command> trainer =
        context.spawn(Trainer.create(workshop, coordinator), TRAINER);
    coordinator.tell(new Coordinator.AttachTrainer(trainer));
    trainer.tell(new Trainer.Prepare());
    wiring.onActorsStarted().accept(new RunActors(coordinator, trainer, recorder));
    ActorRef<VerifierPool.Command> verifiers =
        context.spawn(VerifierPool.create(wiring.verifier()), VERIFIERS);
    context.watch(recorder);
    context.watch(coordinator);
    context.watch(trainer);
    context.watch(verifiers);
    for (int i = 1; i <= wiring.workers(); i++) {
      context.watch(
          context.spawn(
              WorkerSupervisor.restarting(
                  RolloutWorker.create(wiring.worker(coordinator, trainer, verifiers, recorder)),
                  sentence -> context.getSelf().tell(new Note(sentence))),
              WORKER + i));
    }
  }

  private ActorRef<Evaluator.Command> newEvaluator() {
    ActorRef<Evaluator.Command> made =
        getContext()
            .spawn(
                Evaluator.create(
                    wiring.evaluations(),
                    wiring.engines(),
                    Evaluator.PATIENCE,
                    getContext().getSelf()),
                EVALUATOR);
    getContext().watch(made);
    return made;
  }

  @Override
  public Behavior<Command> onMessage(Command command) {
    switch (command) {
      case StepMade(StepRow row, boolean evaluated) -> rows = rows.add(row, evaluated);
      case RowsMissing(RowQueue missing) -> rows = missing;
      case EvaluationDue due -> onEvaluationDue(due);
      case Evaluated(long step, StepEvaluations.Outcome outcome) -> onEvaluated(step, outcome);
      case EvaluationFailed(long step, String reason) -> onEvaluationFailed(step, reason);
      case Warming(TrainerTasks.WarmupProgress progress) -> wiring.listener().warmup(progress);
      case Note(String sentence) -> wiring.listener().note(sentence);
      case TracesRefused(LineBacklog backlog) -> wiring.listener().traces(backlog);
      case GroupJudged(Recorder.Judged judged) -> wiring.listener().judged(judged.verdicts());
      case Stopped ended -> onStopped(ended);
      case Interrupted(RunState state) -> last = state;
    }
    return next();
  }

  private Behavior<Command> next() {
    List<StepRow> ready = rows.ready();
    if (!ready.isEmpty()) {
      ready.forEach(wiring.listener()::row);
      rows = rows.withoutReady();
      coordinator.tell(new Coordinator.RowsWritten(ready.getLast().step()));
    }
    return stopped.isPresent() && (rows.isEmpty() || failed()) ? end() : this;
  }

  /** The warm-up has no deadline, so the end of the run ends it. */
  private void onStopped(Stopped end) {
    workshop.stop();
    stopped = Optional.of(end);
  }

  private void onBroken(String reason) {
    coordinator.tell(new Coordinator.Tell(new Input.Broken(reason)));
  }

  private void onEvaluationDue(EvaluationDue due) {
    if (wiring.evaluations().due(due.step()).isEmpty()) {
      rows = rows.withoutEvaluation(due.step());
    } else {
      evaluations.add(due);
      ask(due);
    }
  }

  private void ask(EvaluationDue due) {
    evaluator.tell(new Evaluator.Evaluate(due.step(), due.weights()));
  }

  private void onEvaluated(long step, StepEvaluations.Outcome outcome) {
    evaluations.removeIf(due -> due.step() == step);
    outcome
        .notes()
        .forEach(note -> wiring.listener().note("evaluation of step %d, %s".formatted(step, note)));
    outcome
        .answers()
        .forEach((name, answers) -> recorder.tell(new Recorder.Evaluated(step, name, answers)));
    rows = rows.evaluated(step, outcome.scores());
    coordinator.tell(new Coordinator.RowEvaluated(step, outcome.scores()));
    outcome
        .scores()
        .of(wiring.evaluations().target())
        .ifPresent(
            share -> coordinator.tell(new Coordinator.Tell(new Input.Evaluated(step, share))));
  }

  private void onEvaluationFailed(long step, String reason) {
    evaluations.removeIf(due -> due.step() == step);
    wiring.listener().note("the evaluation of step %d failed: %s".formatted(step, reason));
    rows = rows.withoutEvaluation(step);
  }

  @Override
  public Behavior<Command> onSignal(Signal signal) {
    return signal instanceof Terminated ended ? onEnded(ended) : this;
  }

  private Behavior<Command> onEnded(Terminated ended) {
    String name = ended.getRef().path().name();
    String reason =
        ended instanceof ChildFailed failed
            ? " failed: " + FailureCause.message(failed.getCause())
            : " stopped by itself";
    switch (name) {
      case COORDINATOR -> {
        return onCoordinatorEnded("the coordinator" + reason);
      }
      case EVALUATOR -> onEvaluatorEnded("the evaluator" + reason);
      case TRAINER -> onBroken("the trainer" + reason);
      case RECORDER -> {
        recording = false;
        if (!closing) {
          onBroken("the recorder of the traces" + reason);
        }
      }
      case VERIFIERS -> onBroken("the verifier pool" + reason);
      default -> {
        if (ended instanceof ChildFailed) { // Else it was drained.
          onBroken("worker " + name + reason);
        }
      }
    }
    return next();
  }

  private Behavior<Command> onCoordinatorEnded(String reason) {
    wiring.listener().ended(new RunEnd.Failed(reason), last);
    throw new IllegalStateException(reason);
  }

  /**
   * Notes that the evaluator failed in the first evaluation that is left, since it works in order.
   */
  private void onEvaluatorEnded(String reason) {
    evaluator = newEvaluator();
    Optional.ofNullable(evaluations.peek())
        .ifPresent(due -> onEvaluationFailed(due.step(), reason));
    evaluations.forEach(this::ask);
  }

  private boolean failed() {
    return stopped.orElseThrow().end() instanceof RunEnd.Failed;
  }

  /** The recorder ends first: a child that is stopped forgets what waits in its mailbox. */
  private Behavior<Command> end() {
    if (recording) {
      if (!closing) {
        closing = true;
        recorder.tell(new Recorder.Close());
      }
      return this;
    }
    Stopped ended = stopped.orElseThrow();
    wiring.listener().ended(ended.end(), ended.state());
    return Behaviors.stopped();
  }
}
