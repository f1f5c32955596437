package io.troupe.cluster.evaluation;

import akka.actor.Address;
import akka.actor.typed.ActorRef;
import akka.actor.typed.Behavior;
import akka.actor.typed.PostStop;
import akka.actor.typed.Signal;
import akka.actor.typed.javadsl.AbstractOnMessageBehavior;
import akka.actor.typed.javadsl.ActorContext;
import akka.actor.typed.javadsl.Behaviors;
import akka.actor.typed.javadsl.TimerScheduler;
import io.troupe.base.net.HostPort;
import io.troupe.cluster.membership.ServiceSubscription;
import io.troupe.core.completion.Completion;
import io.troupe.core.evaluation.EvaluationChunks;
import io.troupe.runtime.evaluation.EvaluatedWeights;
import io.troupe.runtime.evaluation.EvaluationReply;
import io.troupe.runtime.evaluation.EvaluationRequest;
import io.troupe.runtime.evaluation.EvaluationSampler;
import io.troupe.runtime.evaluation.MessageParts;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.IntConsumer;

/**
 * Has the chunks of one evaluation sampled by the workers of a cluster. {@link EvaluationChunks}
 * decides which worker is asked for what; a chunk that a lost worker had begun is asked again as a
 * whole.
 */
public final class EvaluationClient extends AbstractOnMessageBehavior<EvaluationClient.Command> {
  /** The name that it must be spawned under, so that Artery sends completions on the large lane. */
  public static final String NAME = "evaluation-client";

  /** The paths of the adapter that takes replies. */
  public static final String REPLY_PATHS = "/user/" + NAME + "/*";

  public sealed interface Command {}

  /** Have a chunk sampled. */
  public record SampleChunk(PendingChunk chunk) implements Command {}

  private record WorkersFound(Set<ActorRef<EvaluationSampler.Command>> found) implements Command {}

  private record Heard(EvaluationReply reply) implements Command {}

  private record LookDue() implements Command {}

  /** The reason why no chunk is sampled once this process has left the cluster. */
  public static final String NO_MEMBER = "this process is no member of the cluster any more";

  private static final Duration LOOK_EVERY = Duration.ofSeconds(1);

  private final EvaluatedWeights weights;
  private final IntConsumer onWorkers;
  private final Consumer<String> say;
  private final ActorRef<EvaluationReply> replies;
  private final Map<String, ActorRef<EvaluationSampler.Command>> workers = new TreeMap<>();
  private final Map<Long, PendingChunk> pending = new HashMap<>();
  private EvaluationChunks chunks;
  private long added;
  private Optional<String> obstacle = Optional.empty();

  /**
   * A client without chunks.
   *
   * @param onWorkers takes the number of workers whenever it changes
   * @param say takes a sentence on each failure of a worker
   */
  public static Behavior<Command> create(
      EvaluatedWeights weights,
      EvaluationChunks.Limits limits,
      IntConsumer onWorkers,
      Consumer<String> say) {
    return Behaviors.setup(
        context ->
            Behaviors.withTimers(
                timers -> new EvaluationClient(context, timers, weights, limits, onWorkers, say)));
  }

  private EvaluationClient(
      ActorContext<Command> context,
      TimerScheduler<Command> timers,
      EvaluatedWeights weights,
      EvaluationChunks.Limits limits,
      IntConsumer onWorkers,
      Consumer<String> say) {
    super(context);
    this.weights = weights;
    this.onWorkers = onWorkers;
    this.say = say;
    this.chunks = EvaluationChunks.none(limits, now());
    this.replies = context.messageAdapter(EvaluationReply.class, Heard::new);
    ServiceSubscription.start(context, EvaluationSampler.SERVICE_KEY, WorkersFound::new);
    timers.startTimerWithFixedDelay(new LookDue(), LOOK_EVERY);
  }

  @Override
  public Behavior<Command> onMessage(Command command) {
    switch (command) {
      case SampleChunk(PendingChunk chunk) -> onSampleChunk(chunk);
      case WorkersFound(Set<ActorRef<EvaluationSampler.Command>> found) -> onWorkersFound(found);
      case Heard(EvaluationReply reply) when obstacle.isEmpty() -> onReply(reply);
      case Heard _ -> {}
      case LookDue _ -> onLookDue();
    }
    askNext();
    return this;
  }

  private void onSampleChunk(PendingChunk chunk) {
    if (obstacle.isPresent()) {
      chunk.fail(new IOException(obstacle.get()));
      return;
    }
    pending.put(++added, chunk);
    chunks = chunks.added(added, now());
  }

  private void onWorkersFound(Set<ActorRef<EvaluationSampler.Command>> found) {
    Map<String, ActorRef<EvaluationSampler.Command>> before = Map.copyOf(workers);
    workers.clear();
    found.forEach(worker -> workers.put(address(worker), worker));
    Set<String> lasting = new HashSet<>();
    workers.forEach(
        (name, worker) -> {
          if (before.getOrDefault(name, worker).equals(worker)) {
            lasting.add(name);
          }
        });
    before.keySet().stream()
        .filter(name -> !lasting.contains(name))
        .forEach(name -> say.accept("the rollout worker at %s is gone".formatted(name)));
    chunks = chunks.present(lasting).present(workers.keySet());
    if (before.size() != workers.size()) {
      onWorkers.accept(workers.size());
    }
  }

  private static String address(ActorRef<?> worker) {
    Address address = worker.path().address();
    return address.getHost().isPresent()
        ? new HostPort(address.getHost().get(), address.getPort().orElse(0)).toString()
        : worker.path().name();
  }

  private void onReply(EvaluationReply reply) {
    switch (reply) {
      case EvaluationReply.Sampled(
              long number,
              int request,
              List<Completion> completions,
              String digest) ->
          onSampled(number, request, completions, digest);
      case EvaluationReply.Unanswerable(long number, int request, String reason) -> {
        chunks = chunks.working(number, now());
        assembled(number).ifPresent(chunk -> chunk.unanswerable(request, reason));
        doneIfWhole(number);
      }
      case EvaluationReply.Working(long number) -> chunks = chunks.working(number, now());
      case EvaluationReply.Busy(long number) -> chunks = chunks.busy(number, now());
      case EvaluationReply.Failed(long number, String reason) -> failed(number, reason);
      case EvaluationReply.Refused(long number, String reason) -> {
        if (chunks.of(number).isPresent()) {
          say.accept(reason);
          chunks = chunks.refused(number, reason, now());
        }
      }
    }
  }

  private void onSampled(long number, int request, List<Completion> completions, String digest) {
    Optional<PendingChunk> chunk = assembled(number);
    if (chunk.isEmpty()) {
      return; // Its asking was given up.
    }
    Optional<String> objection = weights.objection(digest, completions);
    if (objection.isPresent()) {
      abandon(number);
      failed(number, objection.get());
      return;
    }
    chunks = chunks.working(number, now());
    chunk.get().add(request, completions);
    doneIfWhole(number);
  }

  private void doneIfWhole(long number) {
    Optional<EvaluationChunks.Asked> asked = chunks.of(number);
    if (asked.isPresent() && chunkOf(asked.get()).isWhole()) {
      chunkOf(asked.get()).complete();
      pending.remove(asked.get().chunk());
      chunks = chunks.done(number, now());
    }
  }

  private void failed(long number, String reason) {
    if (chunks.of(number).isPresent()) {
      say.accept(reason);
      chunks = chunks.failed(number, reason, now());
    }
  }

  private void onLookDue() {
    for (long number : chunks.silent(now())) {
      String worker = chunks.of(number).orElseThrow().worker();
      abandon(number);
      failed(number, "the rollout worker at %s has given no sign of life".formatted(worker));
    }
    chunks
        .obstacle(now())
        .filter(_ -> obstacle.isEmpty())
        .ifPresent(
            reason -> {
              String said = reason + "; leave out --cluster, so that this process samples";
              obstacle = Optional.of(said);
              pending.values().forEach(chunk -> chunk.fail(new IOException(said)));
              pending.clear();
            });
  }

  private void askNext() {
    Optional<EvaluationChunks.Ask> next =
        obstacle.isPresent() ? Optional.empty() : chunks.next(now());
    while (next.isPresent()) {
      ask(next.get());
      next = chunks.next(now());
    }
  }

  private void ask(EvaluationChunks.Ask ask) {
    chunks = chunks.asked(ask, now());
    PendingChunk chunk = Optional.ofNullable(pending.get(ask.chunk())).orElseThrow();
    ActorRef<EvaluationSampler.Command> worker = worker(ask.worker()).orElseThrow();
    chunk.begin();
    int from = 0;
    for (List<EvaluationRequest> part : MessageParts.ofRequests(chunk.requests())) {
      worker.tell(
          new EvaluationSampler.Sample(
              ask.number(), weights, from, chunk.requests().size(), part, replies));
      from += part.size();
    }
  }

  private void abandon(long number) {
    chunks
        .of(number)
        .flatMap(asked -> worker(asked.worker()))
        .ifPresent(worker -> worker.tell(new EvaluationSampler.Abandon(number, replies)));
  }

  private Optional<ActorRef<EvaluationSampler.Command>> worker(String name) {
    return Optional.ofNullable(workers.get(name));
  }

  private Optional<PendingChunk> assembled(long number) {
    return chunks.of(number).map(this::chunkOf);
  }

  private PendingChunk chunkOf(EvaluationChunks.Asked asked) {
    return Optional.ofNullable(pending.get(asked.chunk())).orElseThrow();
  }

  private static long now() {
    return System.nanoTime() / 1_000_000;
  }

  @Override
  public Behavior<Command> onSignal(Signal signal) {
    if (signal instanceof PostStop) {
      pending.values().forEach(chunk -> chunk.fail(new IOException(NO_MEMBER)));
    }
    return this;
  }
}
