package io.troupe.runtime;

import akka.actor.typed.ActorRef;
import akka.actor.typed.Behavior;
import akka.actor.typed.PostStop;
import akka.actor.typed.Signal;
import akka.actor.typed.javadsl.AbstractOnMessageBehavior;
import akka.actor.typed.javadsl.ActorContext;
import akka.actor.typed.javadsl.Behaviors;
import akka.actor.typed.javadsl.TimerScheduler;
import io.troupe.core.reward.EpisodeText;
import io.troupe.core.reward.Verdict;
import io.troupe.core.rollout.Episode;
import io.troupe.core.rollout.GroupSize;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.ScoredGroup;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.run.Input;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.environments.HeldTurns;
import io.troupe.runtime.episode.EpisodeSampler;
import io.troupe.runtime.episode.EpisodeSettings;
import io.troupe.runtime.episode.EpisodeTrace;
import io.troupe.runtime.episode.SampledEpisode;
import io.troupe.runtime.prompt.Assignment;
import io.troupe.runtime.prompt.SourceSampling;
import io.troupe.runtime.rollout.WorkerAction;
import io.troupe.runtime.rollout.WorkerGroups;
import io.troupe.runtime.rollout.WorkerState;
import io.troupe.runtime.weights.PublishedWeights;
import io.troupe.runtime.weights.SampledWeights;
import io.troupe.runtime.weights.WeightSource;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;
import org.slf4j.event.Level;

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

  private record Sampled(WorkerAction.Part part, List<SampledEpisode> episodes)
      implements Command {}

  private record SamplingFailed(WorkerAction.Part part, Throwable cause) implements Command {}

  private record Fetched(WeightSnapshot weights) implements Command {}

  private record FetchFailed(PublishedWeights weights, Throwable cause) implements Command {}

  private record LoadFailed(Throwable cause) implements Command {}

  private record Due(WorkerAction.Timer timer) implements Command {}

  private record EngineServes() implements Command {}

  private record EngineLost(String reason) implements Command {}

  /** The parts that a worker works with. */
  public record Wiring(
      EngineRegistry room,
      WeightSource source,
      SourceSampling sampling,
      GroupSize size,
      int groupsPerRequest,
      ActorRef<Coordinator.Command> coordinator,
      ActorRef<Trainer.Command> trainer,
      ActorRef<VerifierPool.Command> verifiers,
      ActorRef<Recorder.Command> recorder) {}

  private final Wiring wiring;
  private final TimerScheduler<Command> timers;
  private final WorkerId id;
  private final SamplingEngine engine;
  private final EpisodeSampler sampler;
  private WorkerState state;

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
            wiring.sampling().episodes(),
            HeldTurns.ofGroups());
    this.state = WorkerState.starting(id, wiring.size(), wiring.groupsPerRequest());
    wiring.coordinator().tell(new Coordinator.Register(id, context.getSelf()));
    if (engine.ready().toCompletableFuture().isDone()) {
      become(state.engineReady());
    } else { // a lease taken now would wait for servers to start, and expire
      context.pipeToSelf(engine.ready(), (_, _) -> new EngineServes());
    }
    var _ = engine.failed().thenAccept(reason -> context.getSelf().tell(new EngineLost(reason)));
  }

  @Override
  public Behavior<Command> onMessage(Command command) {
    become(
        switch (command) {
          case Produce(WeightVersion atLeast, List<Assignment> assignments) ->
              state.produce(atLeast, assignments);
          case Cancel(LeaseId lease) -> state.cancel(lease);
          case Drain _ -> state.drain();
          case Released _ -> state.release();
          case WeightsPublished(PublishedWeights weights) -> state.publish(weights);
          case Judged(LeaseId lease, List<Verdict> verdicts) -> state.judged(lease, verdicts);
          case Restart _ -> throw new WorkerSupervisor.RestartOrdered(id);
          case Sampled(WorkerAction.Part part, List<SampledEpisode> sampled) ->
              state.sampled(
                  part,
                  sampled.stream().map(SampledEpisode::episode).toList(),
                  texts(part.assignment(), sampled));
          case SamplingFailed(WorkerAction.Part part, Throwable cause) ->
              state.samplingFailed(part, cause, replaceable());
          case Fetched(WeightSnapshot weights) -> state.fetched(weights);
          case FetchFailed(PublishedWeights weights, Throwable cause) ->
              state.fetchFailed(weights, cause);
          case LoadFailed(Throwable cause) -> state.loadFailed(cause, wiring.room().isClosed());
          case Due(WorkerAction.Timer timer) -> state.due(timer);
          case EngineServes _ -> state.engineReady();
          case EngineLost(String reason) -> state.engineLost(reason, replaceable());
        });
    return state.ended() ? Behaviors.stopped() : this;
  }

  private void become(WorkerState.Next next) {
    state = next.state();
    next.actions().forEach(this::act);
  }

  private void act(WorkerAction action) {
    switch (action) {
      case WorkerAction.Report(Input.FromWorker input) ->
          wiring.coordinator().tell(new Coordinator.Report(input));
      case WorkerAction.Sample(List<WorkerAction.Part> parts) -> sample(parts);
      case WorkerAction.Cancel(LeaseId lease) -> sampler.cancel(lease);
      case WorkerAction.Fetch(PublishedWeights weights) -> fetch(weights);
      case WorkerAction.Load(WeightSnapshot weights) -> load(weights);
      case WorkerAction.Verify(Assignment assignment, List<EpisodeText> completions) ->
          wiring
              .verifiers()
              .tell(new VerifierPool.Verify(assignment, completions, getContext().getSelf()));
      case WorkerAction.RecordVerdicts(WorkerGroups.Sampled group, List<Verdict> verdicts) ->
          wiring
              .recorder()
              .tell(
                  new Recorder.Judged(
                      group.assignment().lease(),
                      group.assignment().prompt(),
                      answers(group.assignment(), group.episodes()),
                      verdicts,
                      traces(group)));
      case WorkerAction.Deliver(ScoredGroup group, List<SampledWeights> weights) ->
          wiring.trainer().tell(new Trainer.Deliver(group, weights));
      case WorkerAction.Schedule(WorkerAction.Timer timer, Duration pause) ->
          timers.startSingleTimer(timer, new Due(timer), pause);
      case WorkerAction.CancelTimer(WorkerAction.Timer timer) -> timers.cancel(timer);
      case WorkerAction.Log(Level level, String line) ->
          getContext().getLog().atLevel(level).log(line);
      case WorkerAction.Fail(IllegalStateException failure) -> throw failure;
    }
  }

  private boolean replaceable() {
    return engine.replaceable() && !wiring.room().isClosed();
  }

  private void sample(List<WorkerAction.Part> parts) {
    List<SampleRequest> requests = parts.stream().map(this::request).toList();
    List<CompletionStage<List<SampledEpisode>>> stages =
        sampler.sample(requests, parts.stream().map(part -> part.assignment().prompt()).toList());
    for (int i = 0; i < parts.size(); i++) {
      WorkerAction.Part part = parts.get(i);
      getContext()
          .pipeToSelf(
              stages.get(i),
              (episodes, failure) ->
                  failure == null
                      ? new Sampled(part, episodes)
                      : new SamplingFailed(part, failure));
    }
  }

  private SampleRequest request(WorkerAction.Part part) {
    Assignment assignment = part.assignment();
    return new SampleRequest(
        assignment.lease(),
        assignment.tokens(),
        part.completions(),
        wiring.sampling().of(assignment.prompt()),
        assignment.seedOf(part.from()));
  }

  private void fetch(PublishedWeights weights) {
    getContext()
        .pipeToSelf(
            wiring.source().fetch(weights),
            (snapshot, failure) ->
                failure == null ? new Fetched(snapshot) : new FetchFailed(weights, failure));
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

  private Tokenizer tokenizer() {
    return wiring.room().engines().tokenizer();
  }

  private List<EpisodeText> texts(Assignment assignment, List<SampledEpisode> sampled) {
    List<String> stops = wiring.sampling().of(assignment.prompt()).stops();
    EpisodeSettings settings = wiring.sampling().episodes();
    return sampled.stream()
        .map(each -> each.text(assignment.prompt(), tokenizer(), stops, settings))
        .toList();
  }

  private List<String> answers(Assignment assignment, List<Episode> episodes) {
    List<String> stops = wiring.sampling().of(assignment.prompt()).stops();
    return episodes.stream()
        .map(episode -> EpisodeTrace.answer(episode, tokenizer(), stops))
        .toList();
  }

  /** The turns of a group's episodes; nothing where each is one answer. */
  private List<EpisodeTrace> traces(WorkerGroups.Sampled group) {
    return wiring.sampling().episodes() instanceof EpisodeSettings.SingleTurn
        ? List.of()
        : IntStream.range(0, group.episodes().size())
            .mapToObj(
                i ->
                    EpisodeTrace.of(
                        group.episodes().get(i), group.texts().get(i).rewards(), tokenizer()))
            .toList();
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
