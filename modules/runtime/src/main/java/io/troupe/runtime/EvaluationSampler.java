package io.troupe.runtime;

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
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.RequestRefusedException;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.runtime.evaluation.EvaluatedWeights;
import io.troupe.runtime.evaluation.EvaluationRequest;
import io.troupe.runtime.evaluation.EvaluationWeightSource;
import io.troupe.runtime.evaluation.MessageParts;
import io.troupe.runtime.evaluation.UnfitWeightsException;
import io.troupe.runtime.weights.PublishedWeights;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/**
 * Samples chunks of prompts for evaluations that other processes make, beside a rollout worker. It
 * holds no lease and tells the coordinator nothing, so no account of the run knows of it.
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
   * @param from how many requests of the chunk came before
   * @param requests how many the chunk has
   * @param next the next ones of them
   */
  public record Sample(
      long number,
      EvaluatedWeights weights,
      int from,
      int requests,
      List<EvaluationRequest> next,
      ActorRef<Reply> replyTo)
      implements Command, WireMessage {
    public Sample {
      next = List.copyOf(next);
    }
  }

  /** Nobody waits for the chunk any more. */
  public record Abandon(long number, ActorRef<Reply> replyTo) implements Command, WireMessage {}

  /** What became of a chunk. */
  public sealed interface Reply extends WireMessage {}

  /**
   * Completions of one request, the next ones in order.
   *
   * @param digest of the weights that sampled them
   */
  public record Sampled(long number, int request, List<Completion> completions, String digest)
      implements Reply {
    public Sampled {
      completions = List.copyOf(completions);
    }
  }

  /** No engine of this kind could take a request. */
  public record Unanswerable(long number, int request, String reason) implements Reply {}

  /** The chunk is in work. */
  public record Working(long number) implements Reply {}

  /** Another process has a chunk sampled here. */
  public record Busy(long number) implements Reply {}

  /** The chunk failed here, and may succeed later. */
  public record Failed(long number, String reason) implements Reply {}

  /** Nothing of the evaluation can be sampled here. */
  public record Refused(long number, String reason) implements Reply {}

  private record Fetched(Chunk chunk, WeightSnapshot weights) implements Command {}

  private record FetchFailed(Chunk chunk, Throwable cause) implements Command {}

  private record LoadFailed(SamplingEngine engine, Throwable cause) implements Command {}

  private record Answered(Chunk chunk, int request, List<Completion> completions)
      implements Command {}

  private record NotAnswered(Chunk chunk, int request, Throwable cause) implements Command {}

  private record EngineFailed(SamplingEngine engine, String reason) implements Command {}

  private record AskerGone(ActorRef<Reply> asker) implements Command {}

  private record SignDue(Chunk chunk) implements Command {}

  private record IdleTimeElapsed() implements Command {}

  /** A chunk at work; compared by identity. */
  private static final class Chunk {
    private final Sample first;
    private final List<EvaluationRequest> requests = new ArrayList<>();
    private final List<LeaseId> leases = new ArrayList<>();
    private int answered;
    private long progress;
    private long progressAt = System.nanoTime();

    Chunk(Sample first) {
      this.first = first;
    }

    boolean is(long number, ActorRef<Reply> replyTo) {
      return first.number() == number && first.replyTo().equals(replyTo);
    }

    PublishedWeights weights() {
      return first.weights().weights();
    }

    boolean begun() {
      return requests.size() >= first.requests();
    }

    void tell(Reply reply) {
      first.replyTo().tell(reply);
    }

    Reply failed(String reason) {
      return new Failed(first.number(), reason);
    }

    Reply refused(String reason) {
      return new Refused(first.number(), reason);
    }
  }

  /** The engine, and the weights that it was given. */
  private record Held(WeightVersion version, String digest, SamplingEngine engine) {
    boolean has(PublishedWeights weights) {
      return version.equals(weights.version()) && digest.equals(weights.digest());
    }
  }

  private static final Duration SIGN_EVERY = Duration.ofSeconds(5);

  /** How long an engine without a chunk is kept. */
  public static final Duration IDLE = Duration.ofMinutes(2);

  /**
   * Everything a sampler works with.
   *
   * @param worker name of the worker, for the sentences of failures
   * @param run that the worker works for
   * @param checkpoints reads weights of the run
   * @param refusal why nothing can be sampled here; empty where something can
   * @param idle how long an engine without a chunk is kept
   */
  public record Wiring(
      String worker,
      String run,
      EngineRegistry room,
      EvaluationWeightSource checkpoints,
      Optional<String> refusal,
      Duration idle) {}

  private final Wiring wiring;
  private final TimerScheduler<Command> timers;
  private Optional<Chunk> current = Optional.empty();
  private Optional<Held> held = Optional.empty();
  private long leases;

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
  }

  @Override
  public Behavior<Command> onMessage(Command command) {
    switch (command) {
      case Sample sample -> onSample(sample);
      case Abandon(long number, ActorRef<Reply> replyTo) ->
          current.filter(chunk -> chunk.is(number, replyTo)).ifPresent(this::abandon);
      case Fetched(Chunk chunk, WeightSnapshot weights) -> onFetched(chunk, weights);
      case FetchFailed(Chunk chunk, Throwable cause) -> onFetchFailed(chunk, cause);
      case LoadFailed(SamplingEngine engine, Throwable cause) -> onLoadFailed(engine, cause);
      case Answered(Chunk chunk, int request, List<Completion> completions) ->
          onAnswered(chunk, request, completions);
      case NotAnswered(Chunk chunk, int request, Throwable cause) ->
          onNotAnswered(chunk, request, cause);
      case EngineFailed(SamplingEngine engine, String reason) -> onEngineFailed(engine, reason);
      case AskerGone(ActorRef<Reply> asker) ->
          current.filter(chunk -> chunk.first.replyTo().equals(asker)).ifPresent(this::abandon);
      case SignDue(Chunk chunk) -> onSignDue(chunk);
      case IdleTimeElapsed _ -> closeEngine();
    }
    return this;
  }

  private void onSample(Sample sample) {
    Optional<Chunk> known = current.filter(chunk -> chunk.is(sample.number(), sample.replyTo()));
    if (known.isEmpty() && sample.from() > 0) {
      return; // The rest of a chunk that was answered or abandoned.
    }
    Optional<Reply> objection = known.isPresent() ? Optional.empty() : objection(sample);
    if (objection.isPresent()) {
      sample.replyTo().tell(objection.get());
      return;
    }
    Chunk chunk = known.orElseGet(() -> taken(sample));
    chunk.requests.addAll(sample.next());
    if (chunk.begun()) {
      begin(chunk);
    }
  }

  private Optional<Reply> objection(Sample sample) {
    if (wiring.refusal().isPresent()) {
      return Optional.of(new Refused(sample.number(), wiring.refusal().get()));
    }
    if (!sample.weights().run().equals(wiring.run())) {
      return Optional.of(
          new Refused(
              sample.number(),
              "worker %s works for run %s, and not for %s"
                  .formatted(wiring.worker(), wiring.run(), sample.weights().run())));
    }
    return current
        .filter(chunk -> !chunk.first.replyTo().equals(sample.replyTo()))
        .map(_ -> new Busy(sample.number()));
  }

  private Chunk taken(Sample sample) {
    current.ifPresent(this::abandon); // The asker has given it up.
    Chunk chunk = new Chunk(sample);
    current = Optional.of(chunk);
    getContext().watchWith(sample.replyTo(), new AskerGone(sample.replyTo()));
    timers.cancel(IdleTimeElapsed.class);
    return chunk;
  }

  private void begin(Chunk chunk) {
    onSignDue(chunk);
    if (held.filter(one -> one.has(chunk.weights())).isPresent()) {
      sample(chunk);
      return;
    }
    closeEngine();
    getContext()
        .pipeToSelf(
            wiring.checkpoints().fetch(chunk.first.weights()),
            (weights, failure) ->
                failure == null ? new Fetched(chunk, weights) : new FetchFailed(chunk, failure));
  }

  private void onFetched(Chunk chunk, WeightSnapshot weights) {
    if (!isCurrent(chunk)) {
      return;
    }
    SamplingEngine engine = wiring.room().newSampler();
    held = Optional.of(new Held(weights.version(), weights.digest(), engine));
    ActorRef<Command> self = getContext().getSelf();
    var _ = engine.failed().thenAccept(reason -> self.tell(new EngineFailed(engine, reason)));
    engine
        .load(weights)
        .whenComplete(
            (_, failure) -> {
              if (failure != null) {
                self.tell(new LoadFailed(engine, failure));
              }
            });
    sample(chunk); // Its requests wait for the weights.
  }

  private void onFetchFailed(Chunk chunk, Throwable cause) {
    if (isCurrent(chunk)) {
      String reason = said("has not got the weights", cause);
      end(
          chunk,
          FailureCause.of(cause) instanceof UnfitWeightsException
              ? chunk.refused(reason)
              : chunk.failed(reason));
    }
  }

  /** Also of a later chunk of the same weights, whose requests would wait for ever. */
  private void onLoadFailed(SamplingEngine engine, Throwable cause) {
    if (isHeld(engine)) {
      closeEngine();
      String reason = said("cannot load the weights", cause);
      current.ifPresent(
          chunk ->
              end(
                  chunk,
                  FailureCause.of(cause) instanceof IllegalArgumentException
                      ? chunk.refused(reason)
                      : chunk.failed(reason)));
    }
  }

  private void sample(Chunk chunk) {
    List<SampleRequest> requests = new ArrayList<>();
    for (EvaluationRequest request : chunk.requests) {
      LeaseId own = new LeaseId(new GroupId(++leases), 1);
      chunk.leases.add(own);
      requests.add(request.under(own));
    }
    List<CompletionStage<List<Completion>>> stages = held.orElseThrow().engine().sample(requests);
    for (int i = 0; i < stages.size(); i++) {
      int request = i;
      getContext()
          .pipeToSelf(
              stages.get(i),
              (completions, failure) ->
                  failure == null
                      ? new Answered(chunk, request, completions)
                      : new NotAnswered(chunk, request, failure));
    }
  }

  private void onAnswered(Chunk chunk, int request, List<Completion> completions) {
    if (isCurrent(chunk)) {
      MessageParts.of(completions)
          .forEach(
              part ->
                  chunk.tell(
                      new Sampled(chunk.first.number(), request, part, chunk.weights().digest())));
      answered(chunk);
    }
  }

  private void onNotAnswered(Chunk chunk, int request, Throwable failure) {
    if (!isCurrent(chunk)) {
      return;
    }
    Throwable cause = FailureCause.of(failure);
    if (cause instanceof RequestRefusedException) {
      chunk.tell(
          new Unanswerable(chunk.first.number(), request, String.valueOf(cause.getMessage())));
      answered(chunk);
    } else {
      closeEngine();
      end(chunk, chunk.failed(said("did not sample", failure)));
    }
  }

  private void answered(Chunk chunk) {
    chunk.answered++;
    if (chunk.answered == chunk.requests.size()) {
      ended(chunk);
    }
  }

  private void onEngineFailed(SamplingEngine engine, String reason) {
    if (isHeld(engine)) {
      closeEngine();
      current.ifPresent(
          chunk ->
              end(
                  chunk,
                  chunk.failed(
                      "the engine of worker %s failed: %s".formatted(wiring.worker(), reason))));
    }
  }

  private void onSignDue(Chunk chunk) {
    if (!isCurrent(chunk)) {
      return;
    }
    long progress = held.map(one -> one.engine().progress()).orElse(0L) + chunk.answered;
    long now = System.nanoTime();
    if (progress != chunk.progress || held.isEmpty()) {
      chunk.progress = progress;
      chunk.progressAt = now;
    }
    if (now - chunk.progressAt >= Evaluator.PATIENCE.toNanos()) {
      closeEngine();
      end(
          chunk,
          chunk.failed(
              "the engine of worker %s has sampled no token for %d min"
                  .formatted(wiring.worker(), Evaluator.PATIENCE.toMinutes())));
      return;
    }
    chunk.tell(new Working(chunk.first.number()));
    timers.startSingleTimer(SignDue.class, new SignDue(chunk), SIGN_EVERY);
  }

  private String said(String what, Throwable cause) {
    return "worker %s %s: %s".formatted(wiring.worker(), what, FailureCause.message(cause));
  }

  private boolean isCurrent(Chunk chunk) {
    return current.equals(Optional.of(chunk));
  }

  private boolean isHeld(SamplingEngine engine) {
    return held.map(Held::engine).equals(Optional.of(engine));
  }

  private void end(Chunk chunk, Reply reply) {
    chunk.tell(reply);
    ended(chunk);
  }

  private void abandon(Chunk chunk) {
    held.ifPresent(one -> chunk.leases.forEach(one.engine()::cancel));
    ended(chunk);
  }

  private void ended(Chunk chunk) {
    current = Optional.empty();
    getContext().unwatch(chunk.first.replyTo());
    timers.cancel(SignDue.class);
    timers.startSingleTimer(IdleTimeElapsed.class, new IdleTimeElapsed(), wiring.idle());
  }

  private void closeEngine() {
    held.ifPresent(one -> wiring.room().closeInBackground(one.engine()));
    held = Optional.empty();
  }

  @Override
  public Behavior<Command> onSignal(Signal signal) {
    if (signal instanceof PostStop || signal instanceof PreRestart) {
      closeEngine();
    }
    return this;
  }
}
