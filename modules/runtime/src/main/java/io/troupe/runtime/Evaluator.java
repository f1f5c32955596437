package io.troupe.runtime;

import akka.actor.typed.ActorRef;
import akka.actor.typed.Behavior;
import akka.actor.typed.PostStop;
import akka.actor.typed.Signal;
import akka.actor.typed.javadsl.AbstractOnMessageBehavior;
import akka.actor.typed.javadsl.ActorContext;
import akka.actor.typed.javadsl.Behaviors;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.WeightSnapshot;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;

/**
 * Measures the policy on held-out prompts, greedily, beside the training: on an engine of its own,
 * so that every answer is drawn by exactly the weights it is about. One evaluation at a time; the
 * queue is bounded by the run, which waits for what it asked for before it ends.
 */
public final class Evaluator extends AbstractOnMessageBehavior<Evaluator.Command> {
  public sealed interface Command {}

  /** Evaluate these weights, those of a step. */
  public record Evaluate(long step, WeightSnapshot weights) implements Command {}

  private record Done(long step, double accuracy) implements Command {}

  private record Failed(long step, Throwable cause) implements Command {}

  private final Examination examination;
  private final EngineRoom room;
  private final ActorRef<Run.Command> run;
  private final Deque<Evaluate> waiting = new ArrayDeque<>();
  private Optional<SamplingEngine> engine = Optional.empty();
  private boolean busy;

  /** An evaluator that makes its engine when it is first asked. */
  public static Behavior<Command> create(
      Examination examination, EngineRoom room, ActorRef<Run.Command> run) {
    return Behaviors.setup(context -> new Evaluator(context, examination, room, run));
  }

  private Evaluator(
      ActorContext<Command> context,
      Examination examination,
      EngineRoom room,
      ActorRef<Run.Command> run) {
    super(context);
    this.examination = examination;
    this.room = room;
    this.run = run;
  }

  @Override
  public Behavior<Command> onMessage(Command command) {
    switch (command) {
      case Evaluate evaluate -> waiting.add(evaluate);
      case Done(long step, double accuracy) -> {
        busy = false;
        run.tell(new Run.Evaluated(step, accuracy));
      }
      case Failed(long step, Throwable cause) -> {
        busy = false;
        run.tell(new Run.EvaluationFailed(step, Causes.message(cause)));
      }
    }
    next();
    return this;
  }

  private void next() {
    if (busy || waiting.isEmpty()) {
      return;
    }
    Evaluate evaluate = waiting.remove();
    busy = true;
    SamplingEngine sampler = engine.orElseGet(room::newSampler);
    engine = Optional.of(sampler);
    getContext()
        .pipeToSelf(
            examination.take(sampler, evaluate.weights()),
            (accuracy, failure) ->
                failure == null
                    ? new Done(evaluate.step(), accuracy)
                    : new Failed(evaluate.step(), failure));
  }

  @Override
  public Behavior<Command> onSignal(Signal signal) {
    if (signal instanceof PostStop) {
      engine.ifPresent(room::retireLater);
    }
    return this;
  }
}
