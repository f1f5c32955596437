package io.troupe.runtime;

import akka.actor.typed.ActorRef;
import akka.actor.typed.Behavior;
import akka.actor.typed.PostStop;
import akka.actor.typed.Signal;
import akka.actor.typed.javadsl.AbstractOnMessageBehavior;
import akka.actor.typed.javadsl.ActorContext;
import akka.actor.typed.javadsl.Behaviors;
import akka.actor.typed.javadsl.TimerScheduler;
import io.troupe.core.outage.Backoff;
import io.troupe.core.reward.Verdict;
import io.troupe.core.rollout.Episode;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.ScoredGroup;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.run.Input;
import io.troupe.core.run.LeaseFailure;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.RequestRefusedException;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.runtime.episode.EpisodeSampler;
import io.troupe.runtime.episode.EpisodeSettings;
import io.troupe.runtime.episode.EpisodeTrace;
import io.troupe.runtime.prompt.Assignment;
import io.troupe.runtime.prompt.SourceSampling;
import io.troupe.runtime.weights.PublishedWeights;
import io.troupe.runtime.weights.WeightDigests;
import io.troupe.runtime.weights.WeightSource;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Produces groups under lease: samples completions, has them verified, and sends them to the
 * trainer.
 *
 * <p>A worker asks for as many groups as its engine decodes at a time, and for one more whenever a
 * group is sampled, so demand flows upstream and no group queues here. A restart makes a new worker
 * with a new name: the leases of the old worker are lost, and no answer of it passes for a new one.
 */
public final class RolloutWorker extends AbstractOnMessageBehavior<RolloutWorker.Command> {
  public sealed interface Command {}

  /**
   * Produce these groups; they enter the decode batch together.
   *
   * @param atLeast no token may be of an older version
   */
  public record Produce(WeightVersion atLeast, List<Assignment> assignments)
      implements Command, WireMessage {
    public Produce {
      assignments = List.copyOf(assignments);
    }

    private boolean holds(LeaseId lease) {
      return assignments.stream().anyMatch(assignment -> assignment.lease().equals(lease));
    }

    private Produce without(LeaseId lease) {
      return new Produce(
          atLeast,
          assignments.stream().filter(assignment -> !assignment.lease().equals(lease)).toList());
    }
  }

  /** Stop work on a lease. */
  public record Cancel(LeaseId lease) implements Command, WireMessage {}

  /** Finish what is begun, ask for nothing new, then end. */
  public record Drain() implements Command, WireMessage {}

  /** Every group of this worker is delivered or given up, and no other comes. */
  public record Released() implements Command, WireMessage {}

  /** There are new weights; move to them at the next token. */
  public record WeightsPublished(PublishedWeights weights) implements Command, WireMessage {}

  /** The verdicts on a group's completions, in order. */
  public record Judged(LeaseId lease, List<Verdict> verdicts) implements Command {}

  /** Start again, as after a failure. */
  public record Restart() implements Command {}

  private record Sampled(Assignment assignment, List<Episode> episodes) implements Command {}

  private record SamplingFailed(Assignment assignment, Throwable cause) implements Command {}

  private record Fetched(WeightSnapshot weights) implements Command {}

  private record FetchFailed(PublishedWeights weights, Throwable cause) implements Command {}

  private record FetchAgain() implements Command {}

  private record LoadFailed(Throwable cause) implements Command {}

  private record AskAgain() implements Command {}

  private record VerifyAgain(LeaseId lease) implements Command {}

  private record EngineServes() implements Command {}

  private record EngineLost(String reason) implements Command {}

  /** Everything a worker works with. */
  public record Wiring(
      EngineRegistry room,
      WeightSource source,
      SourceSampling sampling,
      int completionsPerPrompt,
      int groupsPerRequest,
      ActorRef<Coordinator.Command> coordinator,
      ActorRef<Trainer.Command> trainer,
      ActorRef<VerifierPool.Command> verifiers,
      ActorRef<Recorder.Command> recorder) {}

  /** A sampled group, and the verdicts on its completions so far, by their index. */
  private record SampledGroup(
      Assignment assignment,
      List<Episode> episodes,
      List<String> texts,
      SortedMap<Integer, Verdict> verdicts,
      int failures) {
    private List<Integer> unjudged() {
      return IntStream.range(0, texts.size())
          .filter(i -> !verdicts.containsKey(i))
          .boxed()
          .toList();
    }

    /** With an answer to the question of what is not judged yet. */
    private SampledGroup with(List<Verdict> answer) {
      SortedMap<Integer, Verdict> more = new TreeMap<>(verdicts);
      List<Integer> asked = unjudged();
      for (int i = 0; i < answer.size(); i++) {
        if (!VerdictSummary.away(answer.get(i))) {
          more.put(asked.get(i), answer.get(i));
        }
      }
      return new SampledGroup(assignment, episodes, texts, more, failures + 1);
    }
  }

  /** Fetches of the newest weights that may fail in a row, and the pause after the first. */
  private static final int MOST_FETCH_FAILURES = 5;

  private static final Backoff BACKOFF = new Backoff(1_000, 30_000);

  /** Failures of an engine in a row after which another engine is tried. */
  private static final int MOST_SAMPLE_FAILURES = 8;

  private final Wiring wiring;
  private final TimerScheduler<Command> timers;
  private final WorkerId id;
  private final SamplingEngine engine;
  private final EpisodeSampler sampler;
  private final Map<LeaseId, SampledGroup> sampledGroups = new HashMap<>();
  private WeightDigests digests = WeightDigests.NONE;
  private Optional<PublishedWeights> wanted = Optional.empty();
  private Optional<WeightVersion> loaded = Optional.empty();
  private List<Produce> deferred = List.of();
  private boolean fetching;
  private int fetchFailures;
  private int sampleFailures;
  private int unrequestedGroups;
  private int sampling;
  private boolean draining;
  private boolean released;
  private long asked;

  /** A worker that registers with the coordinator and starts to ask for work. */
  public static Behavior<Command> create(Wiring wiring) {
    return Behaviors.setup(
        context -> Behaviors.withTimers(timers -> new RolloutWorker(context, timers, wiring)));
  }

  private RolloutWorker(
      ActorContext<Command> context, TimerScheduler<Command> timers, Wiring wiring) {
    super(context);
    this.timers = timers;
    this.wiring = wiring;
    this.id =
        WorkerId.at(context.getSelf().path().name(), UUID.randomUUID().toString().substring(0, 8));
    this.engine = wiring.room().newRolloutSampler();
    this.sampler =
        new EpisodeSampler(
            engine,
            tokenizer(),
            wiring.room().engines().contextLength(),
            wiring.sampling().episodes());
    this.asked = wiring.groupsPerRequest();
    wiring.coordinator().tell(new Coordinator.Register(id, context.getSelf()));
    if (engine.ready().toCompletableFuture().isDone()) {
      onEngineReady();
    } else { // a lease taken now would wait for servers to start, and expire
      context.pipeToSelf(engine.ready(), (_, _) -> new EngineServes());
    }
    var _ = engine.failed().thenAccept(reason -> context.getSelf().tell(new EngineLost(reason)));
  }

  @Override
  public Behavior<Command> onMessage(Command command) {
    switch (command) {
      case Produce produce -> onProduce(produce);
      case Cancel(LeaseId lease) -> onCancel(lease);
      case Drain _ -> onDrain();
      case Released _ -> released = true;
      case WeightsPublished(PublishedWeights weights) -> onWeightsPublished(weights);
      case Judged(LeaseId lease, List<Verdict> verdicts) -> onJudged(lease, verdicts);
      case Sampled(Assignment assignment, List<Episode> episodes) ->
          onSampled(assignment, episodes);
      case SamplingFailed(Assignment assignment, Throwable cause) ->
          onSamplingFailed(assignment, cause);
      case Fetched(WeightSnapshot weights) -> onFetched(weights);
      case FetchFailed(PublishedWeights weights, Throwable cause) -> onFetchFailed(weights, cause);
      case Restart _ -> throw new WorkerSupervisor.RestartOrdered(id);
      case FetchAgain _ -> fetch();
      case LoadFailed(Throwable cause) -> onLoadFailed(cause);
      case EngineServes _ -> onEngineReady();
      case AskAgain _ -> requestPendingWork();
      case VerifyAgain(LeaseId lease) -> verify(lease);
      case EngineLost(String reason) -> onEngineLost(reason);
    }
    return released && deferred.isEmpty() && sampling == 0 && sampledGroups.isEmpty()
        ? Behaviors.stopped()
        : this;
  }

  private void onDrain() {
    draining = true;
    wiring.coordinator().tell(new Coordinator.Report(new Input.WorkerRetired(id)));
  }

  private void onEngineReady() {
    if (!draining) {
      wiring.coordinator().tell(new Coordinator.Report(new Input.DemandRaised(id, asked)));
    }
  }

  private void onEngineLost(String reason) {
    if (engine.replaceable() && !wiring.room().isClosed()) {
      throw new IllegalStateException(id + " lost its engine: " + reason);
    }
    getContext().getLog().error("worker_retires worker={} reason=\"{}\"", id, reason);
    onDrain();
  }

  private void onProduce(Produce produce) {
    if (loaded.filter(version -> version.compareTo(produce.atLeast()) >= 0).isPresent()) {
      sample(produce.assignments());
    } else {
      deferred = Stream.concat(deferred.stream(), Stream.of(produce)).toList();
    }
  }

  private void sample(List<Assignment> assignments) {
    List<SampleRequest> requests = assignments.stream().map(this::request).toList();
    List<CompletionStage<List<Episode>>> stages =
        sampler.sample(requests, assignments.stream().map(Assignment::prompt).toList());
    sampling += assignments.size();
    for (int i = 0; i < assignments.size(); i++) {
      Assignment assignment = assignments.get(i);
      getContext()
          .pipeToSelf(
              stages.get(i),
              (episodes, failure) ->
                  failure == null
                      ? new Sampled(assignment, episodes)
                      : new SamplingFailed(assignment, failure));
    }
  }

  private SampleRequest request(Assignment assignment) {
    return new SampleRequest(
        assignment.lease(),
        assignment.tokens(),
        wiring.completionsPerPrompt(),
        wiring.sampling().of(assignment.prompt()),
        assignment.seed());
  }

  private void onCancel(LeaseId lease) {
    sampler.cancel(lease);
    sampledGroups.remove(lease);
    timers.cancel(new VerifyAgain(lease));
    if (deferred.stream().anyMatch(produce -> produce.holds(lease))) {
      deferred =
          deferred.stream()
              .map(produce -> produce.without(lease))
              .filter(produce -> !produce.assignments().isEmpty())
              .toList();
      wiring
          .coordinator()
          .tell(
              new Coordinator.Report(
                  new Input.GroupFailed(lease, new LeaseFailure.OfEngine("cancelled"))));
      requestOneMore();
    }
  }

  private void onWeightsPublished(PublishedWeights weights) {
    wanted = Optional.of(weights);
    fetch();
  }

  /** Fetches the newest weights it knows of, one version at a time. */
  private void fetch() {
    if (!fetching) {
      timers.cancel(new FetchAgain());
      fetching = true;
      PublishedWeights weights = wanted.orElseThrow();
      getContext()
          .pipeToSelf(
              wiring.source().fetch(weights),
              (snapshot, failure) ->
                  failure == null ? new Fetched(snapshot) : new FetchFailed(weights, failure));
    }
  }

  private void onFetched(WeightSnapshot weights) {
    fetching = false;
    fetchFailures = 0;
    digests = digests.with(weights.version(), weights.digest());
    load(weights);
    loaded = Optional.of(weights.version());
    List<Produce> waiting = deferred;
    deferred = List.of();
    waiting.forEach(this::onProduce);
    if (!wanted.orElseThrow().version().equals(weights.version())) {
      fetch();
    }
  }

  private void onFetchFailed(PublishedWeights weights, Throwable cause) {
    fetching = false;
    if (!wanted.orElseThrow().equals(weights)) {
      fetch(); // What failed has been replaced by something newer meanwhile.
      return;
    }
    fetchFailures++;
    if (fetchFailures == MOST_FETCH_FAILURES) {
      throw new IllegalStateException(id + " could not fetch " + weights.version(), cause);
    }
    Duration pause = pauseAfter(fetchFailures);
    getContext()
        .getLog()
        .warn(
            "fetch_failed worker={} version={} again_in={} reason=\"{}\"",
            id,
            weights.version(),
            pause,
            FailureCause.message(cause));
    timers.startSingleTimer(new FetchAgain(), pause);
  }

  private void load(WeightSnapshot weights) {
    engine
        .load(weights)
        .whenComplete(
            (_, failure) -> {
              if (failure != null) {
                getContext().getSelf().tell(new LoadFailed(failure));
              }
            });
  }

  /** A process that ends closes its engines first; then the worker is not started again. */
  private void onLoadFailed(Throwable cause) {
    if (!wiring.room().isClosed()) {
      throw new IllegalStateException(id + " could not load weights", cause);
    }
    getContext().getLog().debug("load_ended worker={} by=close", id);
  }

  private void onSampled(Assignment assignment, List<Episode> episodes) {
    sampling--;
    LeaseId lease = assignment.lease();
    List<String> stops = wiring.sampling().of(assignment.prompt()).stops();
    List<String> texts =
        episodes.stream().map(episode -> EpisodeTrace.answer(episode, tokenizer(), stops)).toList();
    sampledGroups.put(lease, new SampledGroup(assignment, episodes, texts, new TreeMap<>(), 0));
    wiring.coordinator().tell(new Coordinator.Report(new Input.GroupSampled(lease)));
    sampleFailures = 0;
    requestOneMore();
    verify(lease);
  }

  private Tokenizer tokenizer() {
    return wiring.room().engines().tokenizer();
  }

  /** The turns of a group's episodes; nothing where each is one answer. */
  private List<EpisodeTrace> traces(SampledGroup group) {
    return wiring.sampling().episodes() instanceof EpisodeSettings.SingleTurn
        ? List.of()
        : group.episodes().stream().map(episode -> EpisodeTrace.of(episode, tokenizer())).toList();
  }

  private void verify(LeaseId lease) {
    SampledGroup group = sampledGroups.get(lease);
    if (group != null) {
      List<String> texts = group.unjudged().stream().map(group.texts()::get).toList();
      wiring
          .verifiers()
          .tell(new VerifierPool.Verify(group.assignment(), texts, getContext().getSelf()));
    }
  }

  private void onSamplingFailed(Assignment assignment, Throwable failure) {
    sampling--;
    Throwable cause = FailureCause.of(failure);
    String reason = FailureCause.message(failure);
    boolean refused = cause instanceof RequestRefusedException;
    wiring
        .coordinator()
        .tell(
            new Coordinator.Report(
                new Input.GroupFailed(
                    assignment.lease(),
                    refused
                        ? new LeaseFailure.OfPrompt(reason)
                        : new LeaseFailure.OfEngine(reason))));
    if (refused || cause instanceof CancellationException) {
      requestOneMore();
    } else {
      onEngineFailed(reason);
    }
  }

  /** What failed at once would fail again at once: it asks for more after a pause. */
  private void onEngineFailed(String reason) {
    sampleFailures++;
    if (sampleFailures >= MOST_SAMPLE_FAILURES
        && engine.replaceable()
        && !wiring.room().isClosed()) {
      throw new IllegalStateException(
          "%s could not draw %d groups in a row, the last: %s"
              .formatted(id, sampleFailures, reason));
    }
    unrequestedGroups++;
    if (!timers.isTimerActive(new AskAgain())) {
      timers.startSingleTimer(new AskAgain(), pauseAfter(sampleFailures));
    }
  }

  private static Duration pauseAfter(int failures) {
    return Duration.ofMillis(BACKOFF.pauseMillis(failures));
  }

  private void requestOneMore() {
    unrequestedGroups++;
    requestPendingWork();
  }

  private void requestPendingWork() {
    timers.cancel(new AskAgain());
    if (!draining && unrequestedGroups > 0) {
      asked += unrequestedGroups;
      unrequestedGroups = 0;
      wiring.coordinator().tell(new Coordinator.Report(new Input.DemandRaised(id, asked)));
    }
  }

  private void onJudged(LeaseId lease, List<Verdict> answer) {
    SampledGroup asked = sampledGroups.get(lease);
    if (asked == null) {
      return; // Cancelled in the meantime.
    }
    SampledGroup group = asked.with(answer);
    if (!group.unjudged().isEmpty()) {
      sampledGroups.put(lease, group);
      wiring
          .coordinator()
          .tell(
              new Coordinator.Report(
                  new Input.VerifierAway(
                      lease,
                      VerdictSummary.firstObstacle(
                          answer.stream().filter(VerdictSummary::away).toList()))));
      timers.startSingleTimer(new VerifyAgain(lease), pauseAfter(group.failures()));
      return;
    }
    sampledGroups.remove(lease);
    List<Verdict> verdicts = List.copyOf(group.verdicts().values());
    wiring
        .recorder()
        .tell(
            new Recorder.Judged(
                lease, group.assignment().prompt(), group.texts(), verdicts, traces(group)));
    List<Double> rewards = VerdictSummary.rewards(verdicts);
    if (rewards.size() == verdicts.size()) {
      ScoredGroup scored =
          new ScoredGroup(lease, group.assignment().tokens(), group.episodes(), rewards);
      wiring.trainer().tell(new Trainer.Deliver(scored, digests.of(scored.completions())));
    } else {
      wiring
          .coordinator()
          .tell(
              new Coordinator.Report(
                  new Input.GroupFailed(
                      lease, new LeaseFailure.OfPrompt(VerdictSummary.firstObstacle(verdicts)))));
    }
  }

  @Override
  public Behavior<Command> onSignal(Signal signal) {
    if (signal instanceof PostStop) {
      wiring.coordinator().tell(new Coordinator.Report(new Input.WorkerLost(id)));
      sampler.close();
      wiring.room().closeInBackground(engine);
    }
    return this;
  }
}
