package io.troupe.runtime;

import akka.actor.typed.ActorRef;
import akka.actor.typed.Behavior;
import akka.actor.typed.DispatcherSelector;
import akka.actor.typed.SupervisorStrategy;
import akka.actor.typed.javadsl.AbstractOnMessageBehavior;
import akka.actor.typed.javadsl.ActorContext;
import akka.actor.typed.javadsl.Behaviors;
import io.troupe.core.run.Order;
import io.troupe.core.run.RunEnd;
import io.troupe.core.run.RunState;
import io.troupe.core.run.Verb;
import io.troupe.engine.WeightSnapshot;
import io.troupe.telemetry.RowQueue;
import io.troupe.telemetry.StepRow;
import java.time.Duration;
import java.util.Optional;

/**
 * The guardian of a run: starts the actors of the loop, hands rows to whoever watches, in order,
 * and ends when the coordinator says so and the last evaluation is in.
 */
public final class Run extends AbstractOnMessageBehavior<Run.Command> {
  public sealed interface Command {}

  /** Stop and save everything. */
  public record Drain() implements Command {}

  /**
   * Something the run cannot go on without is gone: fail, from the last checkpoint on resumable.
   */
  public record Broken(String reason) implements Command {}

  /** An operator asks for something. */
  public record Ordered(Verb verb, Order order, ActorRef<Coordinator.OrderReply> replyTo)
      implements Command {}

  /** An operator asked for something that whoever talks for them knows cannot be done. */
  public record Unfit(
      Verb verb, Order order, String reason, ActorRef<Coordinator.OrderReply> replyTo)
      implements Command {}

  /** A step is made; {@code evaluated} tells whether an evaluation of it will follow. */
  record StepMade(StepRow row, boolean evaluated) implements Command {}

  record EvaluationDue(long step, WeightSnapshot weights) implements Command {}

  record Evaluated(long step, double accuracy) implements Command {}

  record EvaluationFailed(long step, String reason) implements Command {}

  record Warming(TrainerWorkshop.WarmupProgress progress) implements Command {}

  record Note(String sentence) implements Command {}

  record Stopped(RunEnd end, RunState state) implements Command {}

  /** Whom a worker of another JVM talks to. */
  public record Posts(
      ActorRef<Coordinator.Command> coordinator,
      ActorRef<Trainer.Command> trainer,
      ActorRef<Recorder.Command> recorder) {}

  private static final int WORKER_RESTARTS = 5;

  private final RunWiring wiring;
  private final ActorRef<Coordinator.Command> coordinator;
  private final ActorRef<Evaluator.Command> evaluator;
  private final TrainerWorkshop workshop;
  private RowQueue rows = RowQueue.EMPTY;
  private Optional<Stopped> stopped = Optional.empty();

  /** A run that starts at once. */
  public static Behavior<Command> create(RunWiring wiring) {
    return Behaviors.setup(context -> new Run(context, wiring));
  }

  private Run(ActorContext<Command> context, RunWiring wiring) {
    super(context);
    this.wiring = wiring;
    ActorRef<Recorder.Command> recorder =
        context.spawn(Recorder.create(wiring.traces()), "recorder", DispatcherSelector.blocking());
    this.coordinator =
        context.spawn(
            Coordinator.create(wiring.coordinator(recorder, context.getSelf())), "coordinator");
    this.evaluator =
        context.spawn(
            Evaluator.create(wiring.examination(), wiring.room(), context.getSelf()), "evaluator");
    this.workshop = wiring.workshop(progress -> context.getSelf().tell(new Warming(progress)));
    ActorRef<Trainer.Command> trainer =
        context.spawn(Trainer.create(workshop, coordinator), "trainer");
    coordinator.tell(new Coordinator.Employ(trainer));
    trainer.tell(new Trainer.Prepare());
    wiring.posts().accept(new Posts(coordinator, trainer, recorder));
    ActorRef<VerifierPool.Command> verifiers =
        context.spawn(VerifierPool.create(wiring.verifier()), "verifiers");
    for (int i = 1; i <= wiring.workers(); i++) {
      Behavior<RolloutWorker.Command> worker =
          RolloutWorker.create(wiring.worker(coordinator, trainer, verifiers, recorder));
      context.spawn(
          Behaviors.supervise(worker)
              .onFailure(
                  SupervisorStrategy.restart().withLimit(WORKER_RESTARTS, Duration.ofMinutes(1))),
          "rollout-" + i);
    }
  }

  @Override
  public Behavior<Command> onMessage(Command command) {
    switch (command) {
      case Drain _ -> onDrain();
      case Broken(String reason) -> onBroken(reason);
      case Ordered(Verb verb, Order order, ActorRef<Coordinator.OrderReply> replyTo) ->
          onOrdered(verb, order, replyTo);
      case Unfit(Verb verb, Order order, String reason, ActorRef<Coordinator.OrderReply> replyTo) ->
          coordinator.tell(new Coordinator.Unfit(verb, order, reason, replyTo));
      case StepMade(StepRow row, boolean evaluated) -> rows = rows.add(row, evaluated);
      case EvaluationDue(long step, WeightSnapshot weights) -> onEvaluationDue(step, weights);
      case Evaluated(long step, double accuracy) -> {
        rows = rows.evaluated(step, accuracy);
        coordinator.tell(new Coordinator.Evaluated(step, accuracy));
      }
      case EvaluationFailed(long step, String reason) -> {
        wiring.listener().note("the evaluation of step %d failed: %s".formatted(step, reason));
        rows = rows.abandoned(step);
      }
      case Warming(TrainerWorkshop.WarmupProgress progress) -> wiring.listener().warmup(progress);
      case Note(String sentence) -> wiring.listener().note(sentence);
      case Stopped ended -> stopped = Optional.of(ended);
    }
    rows.ready().forEach(wiring.listener()::row);
    rows = rows.rest();
    return stopped.isPresent() && (rows.isEmpty() || failed()) ? end() : this;
  }

  private void onDrain() {
    workshop.stop();
    coordinator.tell(new Coordinator.Drain());
  }

  private void onBroken(String reason) {
    workshop.stop();
    coordinator.tell(new Coordinator.Broken(reason));
  }

  private void onOrdered(Verb verb, Order order, ActorRef<Coordinator.OrderReply> replyTo) {
    if (verb instanceof Verb.Drain) {
      workshop.stop();
    }
    coordinator.tell(new Coordinator.Ordered(verb, order, replyTo));
  }

  private void onEvaluationDue(long step, WeightSnapshot weights) {
    if (step == 0) {
      rows = rows.add(StepRow.before(wiring.millis().getAsLong() / 1000.0), true);
    }
    evaluator.tell(new Evaluator.Evaluate(step, weights));
  }

  private boolean failed() {
    return stopped.orElseThrow().end() instanceof RunEnd.Failed;
  }

  private Behavior<Command> end() {
    Stopped ended = stopped.orElseThrow();
    wiring.listener().ended(ended.end(), ended.state());
    return Behaviors.stopped();
  }
}
