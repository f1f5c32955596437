package io.troupe.runtime;

import akka.actor.typed.ActorRef;
import akka.actor.typed.Behavior;
import akka.actor.typed.PostStop;
import akka.actor.typed.Signal;
import akka.actor.typed.javadsl.AbstractOnMessageBehavior;
import akka.actor.typed.javadsl.ActorContext;
import akka.actor.typed.javadsl.Behaviors;
import akka.actor.typed.javadsl.TimerScheduler;
import io.troupe.core.TimeText;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.weights.WeightSnapshot;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Measures the policy on prompts of evaluations beside the training: on an engine of its own, so
 * that every answer is sampled with exactly the weights of its step. One evaluation at a time; the
 * queue is bounded by the run, which waits for what it asked for before it ends.
 *
 * <p>An engine that fails, is lost or gets nowhere is replaced, and its evaluation is tried once
 * more on the next one. No lease bounds an evaluation and no time does, since a large policy on a
 * CPU may take hours. An attempt ends when its engine neither samples a token nor answers a prompt
 * for as long as the patience lasts.
 */
public final class Evaluator extends AbstractOnMessageBehavior<Evaluator.Command> {
  public sealed interface Command {}

  /** Evaluate these weights, those of a step. */
  public record Evaluate(long step, WeightSnapshot weights) implements Command {}

  private record Answered(Attempt attempt, List<StepEvaluations.Sampled> answers)
      implements Command {}

  private record EngineFailed(Attempt attempt, String reason) implements Command {}

  private record EngineLost(SamplingEngine lost, String reason) implements Command {}

  private record CheckProgress(Attempt attempt, long before) implements Command {}

  private record Graded(Attempt attempt, StepEvaluations.Outcome outcome) implements Command {}

  private record NotGraded(Attempt attempt, Throwable cause) implements Command {}

  /** One try of an evaluation; compared by identity, since two tries may have equal fields. */
  private static final class Attempt {
    private final Evaluate evaluate;
    private final int number;
    private final AtomicLong answered = new AtomicLong();

    Attempt(Evaluate evaluate, int number) {
      this.evaluate = evaluate;
      this.number = number;
    }
  }

  private static final int MOST_ATTEMPTS = 2;

  /** The time for which an engine may sample no token and answer no prompt. */
  public static final Duration PATIENCE = Duration.ofMinutes(10);

  private final StepEvaluations examination;
  private final EngineRegistry room;
  private final ActorRef<Run.Command> run;
  private final Duration patience;
  private final TimerScheduler<Command> timers;
  private final Deque<Evaluate> waiting = new ArrayDeque<>();
  private Optional<SamplingEngine> engine = Optional.empty();
  private Optional<Attempt> current = Optional.empty();

  /**
   * An evaluator that makes its engine when it is first asked.
   *
   * @param patience longest time without progress of an engine
   */
  public static Behavior<Command> create(
      StepEvaluations examination,
      EngineRegistry room,
      Duration patience,
      ActorRef<Run.Command> run) {
    return Behaviors.setup(
        context ->
            Behaviors.withTimers(
                timers -> new Evaluator(context, timers, examination, room, patience, run)));
  }

  private Evaluator(
      ActorContext<Command> context,
      TimerScheduler<Command> timers,
      StepEvaluations examination,
      EngineRegistry room,
      Duration patience,
      ActorRef<Run.Command> run) {
    super(context);
    this.timers = timers;
    this.examination = examination;
    this.room = room;
    this.patience = patience;
    this.run = run;
  }

  @Override
  public Behavior<Command> onMessage(Command command) {
    switch (command) {
      case Evaluate evaluate -> waiting.add(evaluate);
      case Answered(Attempt of, List<StepEvaluations.Sampled> answers) -> onAnswered(of, answers);
      case EngineFailed(Attempt of, String reason) -> onEngineFailed(of, reason);
      case EngineLost(SamplingEngine lost, String reason) -> onEngineLost(lost, reason);
      case CheckProgress(Attempt of, long before) -> onLook(of, before);
      case Graded(Attempt of, StepEvaluations.Outcome outcome) -> {
        current = Optional.empty();
        run.tell(new Run.Evaluated(of.evaluate.step(), outcome));
      }
      case NotGraded(Attempt of, Throwable cause) -> {
        current = Optional.empty();
        run.tell(new Run.EvaluationFailed(of.evaluate.step(), FailureCause.message(cause)));
      }
    }
    next();
    return this;
  }

  private void next() {
    if (current.isEmpty() && !waiting.isEmpty()) {
      draw(new Attempt(waiting.remove(), 1));
    }
  }

  private void draw(Attempt attempt) {
    current = Optional.of(attempt);
    SamplingEngine sampler = engine.orElseGet(this::newEngine);
    getContext()
        .pipeToSelf(
            examination.answers(
                sampler,
                room.engines().contextLength(),
                attempt.evaluate.step(),
                attempt.evaluate.weights(),
                attempt.answered::incrementAndGet),
            (answers, failure) ->
                failure == null
                    ? new Answered(attempt, answers)
                    : new EngineFailed(attempt, FailureCause.message(failure)));
    lookLater(attempt);
  }

  private SamplingEngine newEngine() {
    SamplingEngine made = room.newSampler();
    engine = Optional.of(made);
    ActorRef<Command> self = getContext().getSelf();
    var _ = made.failed().thenAccept(reason -> self.tell(new EngineLost(made, reason)));
    return made;
  }

  private boolean isCurrent(Attempt attempt) {
    return current.equals(Optional.of(attempt));
  }

  private void onAnswered(Attempt of, List<StepEvaluations.Sampled> answers) {
    if (!isCurrent(of)) {
      return; // Its engine was given up before.
    }
    timers.cancelAll();
    getContext()
        .pipeToSelf(
            examination.grade(answers),
            (outcome, failure) ->
                failure == null ? new Graded(of, outcome) : new NotGraded(of, failure));
  }

  private void onEngineFailed(Attempt of, String reason) {
    if (!isCurrent(of)) {
      return;
    }
    timers.cancelAll();
    engine.ifPresent(room::closeInBackground);
    engine = Optional.empty();
    if (of.number < MOST_ATTEMPTS && !room.isClosed()) {
      getContext()
          .getLog()
          .warn(
              "evaluation_repeated step={} reason=\"{}\": on another engine",
              of.evaluate.step(),
              reason);
      draw(new Attempt(of.evaluate, of.number + 1));
    } else {
      current = Optional.empty();
      run.tell(new Run.EvaluationFailed(of.evaluate.step(), reason));
    }
  }

  private void onEngineLost(SamplingEngine lost, String reason) {
    if (!engine.equals(Optional.of(lost))) {
      return;
    }
    boolean drawing = current.isPresent() && timers.isTimerActive(CheckProgress.class);
    if (drawing) {
      onEngineFailed(current.orElseThrow(), reason);
    } else {
      room.closeInBackground(lost);
      engine = Optional.empty();
    }
  }

  private void lookLater(Attempt attempt) {
    timers.startSingleTimer(
        CheckProgress.class, new CheckProgress(attempt, progress(attempt)), patience);
  }

  private void onLook(Attempt of, long before) {
    if (!isCurrent(of)) {
      return;
    }
    if (progress(of) == before) {
      onEngineFailed(
          of,
          "its engine has sampled no token and answered no prompt for %s"
              .formatted(TimeText.of(patience.toMillis())));
    } else {
      lookLater(of);
    }
  }

  private long progress(Attempt of) {
    return engine.map(SamplingEngine::progress).orElse(0L) + of.answered.get();
  }

  @Override
  public Behavior<Command> onSignal(Signal signal) {
    if (signal instanceof PostStop) {
      engine.ifPresent(room::closeInBackground);
    }
    return this;
  }
}
