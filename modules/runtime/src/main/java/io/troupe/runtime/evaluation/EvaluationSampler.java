package io.troupe.runtime.evaluation;

import akka.actor.typed.ActorRef;
import akka.actor.typed.Behavior;
import akka.actor.typed.PostStop;
import akka.actor.typed.PreRestart;
import akka.actor.typed.Signal;
import akka.actor.typed.javadsl.AbstractOnMessageBehavior;
import akka.actor.typed.javadsl.ActorContext;
import akka.actor.typed.javadsl.Behaviors;
import akka.actor.typed.javadsl.TimerScheduler;
import akka.actor.typed.receptionist.Receptionist;
import akka.actor.typed.receptionist.ServiceKey;
import io.troupe.core.completion.Completion;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.runtime.EngineRegistry;
import io.troupe.runtime.WireMessage;
import io.troupe.runtime.evaluation.EvaluationChunk.Asking;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;

/**
 * Samples chunks of prompts for evaluations that other processes make, beside a rollout worker. The
 * sampler holds no lease and tells the coordinator nothing, so the run's accounts do not count its
 * work.
 *
 * <p>It samples one chunk at a time, on an engine of its own that only ever held the weights that
 * the chunk names: no answer mixes versions, and training may publish meanwhile. The engine is kept
 * for the next chunk of the same weights, and closed after a while without one.
 */
public final class EvaluationSampler extends AbstractOnMessageBehavior<EvaluationSampler.Command> {
  /**
   * The name that it must be spawned under, so that Artery sends its prompts on the large lane; and
   * that of its service.
   */
  public static final String NAME = "evaluation";

  /** The receptionist's key. */
  public static final ServiceKey<Command> SERVICE_KEY = ServiceKey.create(Command.class, NAME);

  public sealed interface Command {}

  /**
   * Sample a chunk. A long one comes in several messages, and begins with the last one.
   *
   * @param number of the asking, unique for the process that asks
   * @param from number of requests of the chunk that came before
   * @param requests number of requests of the chunk
   * @param next the next ones of them
   */
  public record Sample(
      long number,
      EvaluatedWeights weights,
      int from,
      int requests,
      List<EvaluationRequest> next,
      ActorRef<EvaluationReply> replyTo)
      implements Command, WireMessage {
    public Sample {
      next = List.copyOf(next);
    }

    Asking asking() {
      return new Asking(replyTo, number);
    }
  }

  /** The asker gives the chunk up. */
  public record Abandon(long number, ActorRef<EvaluationReply> replyTo)
      implements Command, WireMessage {}

  private record Fetched(Asking asking, WeightSnapshot weights) implements Command {}

  private record FetchFailed(Asking asking, Throwable cause) implements Command {}

  private record LoadFailed(SamplingEngine engine, Throwable cause) implements Command {}

  private record Answered(Asking asking, int request, List<Completion> completions)
      implements Command {}

  private record NotAnswered(Asking asking, int request, Throwable cause) implements Command {}

  private record EngineLost(SamplingEngine engine, String reason) implements Command {}

  private record AskerGone(ActorRef<EvaluationReply> asker) implements Command {}

  private record Due(SamplerAction.Timer timer) implements Command {}

  /**
   * The parts that a sampler works with.
   *
   * @param checkpoints reads weights of the run
   */
  public record Wiring(
      SamplerState.Terms terms, EngineRegistry room, EvaluationWeightSource checkpoints) {}

  private final Wiring wiring;
  private final TimerScheduler<Command> timers;
  private SamplerState state;

  /** A sampler that the receptionist knows, and that makes an engine when it is first asked. */
  public static Behavior<Command> create(Wiring wiring) {
    return Behaviors.setup(
        context -> {
          context
              .getSystem()
              .receptionist()
              .tell(Receptionist.register(SERVICE_KEY, context.getSelf()));
          return Behaviors.withTimers(timers -> new EvaluationSampler(context, timers, wiring));
        });
  }

  private EvaluationSampler(
      ActorContext<Command> context, TimerScheduler<Command> timers, Wiring wiring) {
    super(context);
    this.timers = timers;
    this.wiring = wiring;
    this.state = SamplerState.idle(wiring.terms());
  }

  @Override
  public Behavior<Command> onMessage(Command command) {
    become(
        switch (command) {
          case Sample sample -> state.sample(sample, System.nanoTime());
          case Abandon(long number, ActorRef<EvaluationReply> replyTo) ->
              state.abandon(new Asking(replyTo, number));
          case Fetched(Asking asking, WeightSnapshot weights) -> state.fetched(asking, weights);
          case FetchFailed(Asking asking, Throwable cause) -> state.fetchFailed(asking, cause);
          case LoadFailed(SamplingEngine engine, Throwable cause) ->
              state.loadFailed(engine, cause);
          case Answered(Asking asking, int request, List<Completion> completions) ->
              state.answered(asking, request, completions);
          case NotAnswered(Asking asking, int request, Throwable cause) ->
              state.notAnswered(asking, request, cause);
          case EngineLost(SamplingEngine engine, String reason) -> state.engineLost(engine, reason);
          case AskerGone(ActorRef<EvaluationReply> asker) -> state.lost(asker);
          case Due(SamplerAction.Timer.Sign _) -> state.signDue(tokens(), System.nanoTime());
          case Due(SamplerAction.Timer.Idle _) -> state.idleTimeElapsed();
        });
    return this;
  }

  private void become(SamplerState.Next next) {
    state = next.state();
    next.actions().forEach(this::act);
  }

  private void act(SamplerAction action) {
    switch (action) {
      case SamplerAction.Answer(ActorRef<EvaluationReply> asker, EvaluationReply reply) ->
          asker.tell(reply);
      case SamplerAction.Watch(ActorRef<EvaluationReply> asker) ->
          getContext().watchWith(asker, new AskerGone(asker));
      case SamplerAction.Unwatch(ActorRef<EvaluationReply> asker) -> getContext().unwatch(asker);
      case SamplerAction.Fetch(Asking asking, EvaluatedWeights weights) -> fetch(asking, weights);
      case SamplerAction.Open(WeightSnapshot weights) -> open(weights);
      case SamplerAction.Sample(
              Asking asking,
              SamplingEngine engine,
              List<SampleRequest> requests) ->
          sample(asking, engine.sample(requests));
      case SamplerAction.Cancel(SamplingEngine engine, var leases) ->
          leases.forEach(engine::cancel);
      case SamplerAction.Close(SamplingEngine engine) -> wiring.room().closeInBackground(engine);
      case SamplerAction.Schedule(SamplerAction.Timer timer, Duration pause) ->
          timers.startSingleTimer(timer, new Due(timer), pause);
      case SamplerAction.CancelTimer(SamplerAction.Timer timer) -> timers.cancel(timer);
    }
  }

  private void fetch(Asking asking, EvaluatedWeights weights) {
    getContext()
        .pipeToSelf(
            wiring.checkpoints().fetch(weights),
            (snapshot, failure) ->
                failure == null ? new Fetched(asking, snapshot) : new FetchFailed(asking, failure));
  }

  private void open(WeightSnapshot weights) {
    SamplingEngine engine = wiring.room().newSampler();
    ActorRef<Command> self = getContext().getSelf();
    var _ = engine.failed().thenAccept(reason -> self.tell(new EngineLost(engine, reason)));
    engine
        .load(weights)
        .whenComplete(
            (_, failure) -> {
              if (failure != null) {
                self.tell(new LoadFailed(engine, failure));
              }
            });
    become(state.opened(weights, engine));
  }

  private void sample(Asking asking, List<CompletionStage<List<Completion>>> stages) {
    for (int i = 0; i < stages.size(); i++) {
      int request = i;
      getContext()
          .pipeToSelf(
              stages.get(i),
              (completions, failure) ->
                  failure == null
                      ? new Answered(asking, request, completions)
                      : new NotAnswered(asking, request, failure));
    }
  }

  private long tokens() {
    return state.held().map(held -> held.engine().progress()).orElse(0L);
  }

  @Override
  public Behavior<Command> onSignal(Signal signal) {
    if (signal instanceof PostStop || signal instanceof PreRestart) {
      become(state.closed());
    }
    return this;
  }
}
