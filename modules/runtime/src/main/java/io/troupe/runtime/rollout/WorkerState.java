package io.troupe.runtime.rollout;

import io.troupe.base.failure.Causes;
import io.troupe.core.outage.Backoff;
import io.troupe.core.reward.EpisodeText;
import io.troupe.core.reward.Verdict;
import io.troupe.core.rollout.Episode;
import io.troupe.core.rollout.GroupSize;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.ScoredGroup;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.run.Input;
import io.troupe.core.run.LeaseFailure;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.RequestRefusedException;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.environments.EnvironmentFailedException;
import io.troupe.runtime.prompt.Assignment;
import io.troupe.runtime.weights.PublishedWeights;
import io.troupe.runtime.weights.WeightDigests;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CancellationException;
import java.util.function.Function;
import java.util.stream.Stream;
import org.slf4j.event.Level;

/**
 * The state of a rollout worker, and the decision what follows a message. Pure: each transition
 * returns the next state and the actions that the worker carries out, in order.
 *
 * @param size rule by which a group has enough completions
 * @param draining whether the worker asks for no more groups
 * @param released whether the coordinator sends no more groups
 */
public record WorkerState(
    WorkerId id,
    GroupSize size,
    Weights weights,
    WorkerGroups groups,
    Demand demand,
    boolean draining,
    boolean released) {
  /** Fetches of the newest weights that may fail in a row. */
  static final int MOST_FETCH_FAILURES = 5;

  /** Failures of an engine in a row after which another engine is tried. */
  static final int MOST_SAMPLE_FAILURES = 8;

  private static final Backoff BACKOFF = new Backoff(1_000, 30_000);

  /** A state and the actions that lead to it, in order. */
  public record Next(WorkerState state, List<WorkerAction> actions) {
    public Next {
      actions = List.copyOf(actions);
    }

    private Next then(WorkerAction... more) {
      return new Next(state, Stream.concat(actions.stream(), Stream.of(more)).toList());
    }

    private Next then(Function<WorkerState, Next> transition) {
      Next next = transition.apply(state);
      return new Next(next.state, Stream.concat(actions.stream(), next.actions.stream()).toList());
    }
  }

  /**
   * The weights of the worker's engine.
   *
   * @param digests of the versions that the engine had
   * @param wanted newest published weights
   * @param loaded version that the engine moves to, or has
   * @param fetching whether a fetch runs
   * @param failures of fetches in a row
   */
  public record Weights(
      WeightDigests digests,
      Optional<PublishedWeights> wanted,
      Optional<WeightVersion> loaded,
      boolean fetching,
      int failures) {
    private static final Weights NONE =
        new Weights(WeightDigests.NONE, Optional.empty(), Optional.empty(), false, 0);

    private Weights wanting(PublishedWeights newest) {
      return new Weights(digests, Optional.of(newest), loaded, fetching, failures);
    }

    private Weights startedFetch() {
      return new Weights(digests, wanted, loaded, true, failures);
    }

    private Weights endedFetch(int failuresInARow) {
      return new Weights(digests, wanted, loaded, false, failuresInARow);
    }

    private Weights loaded(WeightSnapshot snapshot) {
      return new Weights(
          digests.with(snapshot.version(), snapshot.digest()),
          wanted,
          Optional.of(snapshot.version()),
          fetching,
          failures);
    }

    private boolean reach(WeightVersion version) {
      return loaded.filter(held -> held.compareTo(version) >= 0).isPresent();
    }
  }

  /**
   * The number of groups for which the worker asks.
   *
   * @param asked groups asked for since the worker started
   * @param unrequested groups that ended and that no other was asked for yet
   * @param failures of the engine in a row
   * @param pausing whether the worker asks after a pause
   */
  public record Demand(long asked, int unrequested, int failures, boolean pausing) {
    private Demand ended() {
      return new Demand(asked, unrequested + 1, failures, pausing);
    }

    private Demand failed() {
      return new Demand(asked, unrequested, failures + 1, pausing);
    }

    private Demand succeeded() {
      return new Demand(asked, unrequested, 0, pausing);
    }

    private Demand pause(boolean pauses) {
      return new Demand(asked, unrequested, failures, pauses);
    }

    private Demand raised() {
      return new Demand(asked + unrequested, 0, failures, pausing);
    }
  }

  /**
   * A worker without weights and groups.
   *
   * @param groupsAtATime groups that it asks for first
   */
  public static WorkerState starting(WorkerId id, GroupSize size, int groupsAtATime) {
    return new WorkerState(
        id,
        size,
        Weights.NONE,
        WorkerGroups.NONE,
        new Demand(groupsAtATime, 0, 0, false),
        false,
        false);
  }

  /** Whether the worker has nothing left to do and gets nothing. */
  public boolean ended() {
    return released && groups.isEmpty();
  }

  /** The engine can sample. */
  public Next engineReady() {
    return draining
        ? next()
        : next(new WorkerAction.Report(new Input.DemandRaised(id, demand.asked())));
  }

  /**
   * The engine will never sample again.
   *
   * @param replaceable whether another worker with another engine may take its place
   */
  public Next engineLost(String reason, boolean replaceable) {
    if (replaceable) {
      return next(fail("%s lost its engine: %s".formatted(id, reason)));
    }
    return next(new WorkerAction.Log(
            Level.ERROR, "worker_retires worker=%s reason=\"%s\"".formatted(id, reason)))
        .then(WorkerState::drain);
  }

  /** Finishes the groups that it has and asks for no more. */
  public Next drain() {
    return new WorkerState(id, size, weights, groups, demand, true, released)
        .next(new WorkerAction.Report(new Input.WorkerRetired(id)));
  }

  /** Every group of this worker is delivered or given up, and no other comes. */
  public Next release() {
    return new WorkerState(id, size, weights, groups, demand, draining, true).next();
  }

  /**
   * Samples groups, which enter the decode batch together, or waits for newer weights.
   *
   * @param atLeast no token may be of an older version
   */
  public Next produce(WeightVersion atLeast, List<Assignment> assignments) {
    return weights.reach(atLeast)
        ? with(groups.startedSampling(assignments))
            .next(
                new WorkerAction.Sample(
                    assignments.stream()
                        .map(each -> new WorkerAction.Part(each, 0, size.part()))
                        .toList()))
        : with(groups.deferring(new WorkerGroups.Deferred(atLeast, assignments))).next();
  }

  /** Stops work on a lease. */
  public Next cancel(LeaseId lease) {
    Next next =
        with(groups.cancel(lease))
            .next(
                new WorkerAction.Cancel(lease),
                new WorkerAction.CancelTimer(new WorkerAction.Timer.Verify(lease)));
    return groups.defers(lease)
        ? next.then(failed(lease, new LeaseFailure.OfEngine("cancelled")))
            .then(WorkerState::askForOneMore)
        : next;
  }

  /** Moves to the newest weights. */
  public Next publish(PublishedWeights newest) {
    return with(weights.wanting(newest)).fetch();
  }

  /** Fetches the newest weights that the worker knows of, one version at a time. */
  private Next fetch() {
    return weights.fetching()
        ? next()
        : with(weights.startedFetch())
            .next(
                new WorkerAction.CancelTimer(new WorkerAction.Timer.Fetch()),
                new WorkerAction.Fetch(weights.wanted().orElseThrow()));
  }

  /** The weights that were fetched last are there. */
  public Next fetched(WeightSnapshot snapshot) {
    Next next =
        with(weights.endedFetch(0).loaded(snapshot))
            .with(groups.withoutDeferred())
            .next(new WorkerAction.Load(snapshot));
    for (WorkerGroups.Deferred waiting : groups.deferred()) {
      next = next.then(state -> state.produce(waiting.atLeast(), waiting.assignments()));
    }
    return weights.wanted().orElseThrow().version().equals(snapshot.version())
        ? next
        : next.then(WorkerState::fetch);
  }

  /** The weights that were fetched last are not there. */
  public Next fetchFailed(PublishedWeights tried, Throwable cause) {
    if (!weights.wanted().orElseThrow().equals(tried)) {
      return with(weights.endedFetch(weights.failures())).fetch(); // Newer ones replaced them.
    }
    int failures = weights.failures() + 1;
    if (failures == MOST_FETCH_FAILURES) {
      return next(
          new WorkerAction.Fail(
              new IllegalStateException(id + " could not fetch " + tried.version(), cause)));
    }
    Duration pause = pauseAfter(failures);
    return with(weights.endedFetch(failures))
        .next(
            new WorkerAction.Log(
                Level.WARN,
                "fetch_failed worker=%s version=%s again_in=%s reason=\"%s\""
                    .formatted(id, tried.version(), pause, Causes.message(Causes.of(cause)))),
            new WorkerAction.Schedule(new WorkerAction.Timer.Fetch(), pause));
  }

  /**
   * The engine did not load weights.
   *
   * @param closed whether the process ends: it closes its engines first, and no worker starts again
   */
  public Next loadFailed(Throwable cause, boolean closed) {
    return next(
        closed
            ? new WorkerAction.Log(Level.DEBUG, "load_ended worker=%s by=close".formatted(id))
            : new WorkerAction.Fail(
                new IllegalStateException(id + " could not load weights", cause)));
  }

  /**
   * The engine has sampled a part of a group.
   *
   * @param texts texts from which rewards are made, one an episode
   */
  public Next sampled(WorkerAction.Part part, List<Episode> episodes, List<EpisodeText> texts) {
    LeaseId lease = part.assignment().lease();
    WorkerState ended = with(groups.endedSampling(lease)).with(demand.succeeded());
    if (groups.cancelled().contains(lease)) {
      return ended.askInPlaceOf(part); // The engine was done before it heard of the cancellation.
    }
    WorkerGroups.Sampled before = groups.sampled().get(lease);
    return ended
        .with(
            ended.groups.with(
                before == null
                    ? new WorkerGroups.Sampled(
                        part.assignment(), episodes, texts, new TreeMap<>(), 0)
                    : before.grown(episodes, texts)))
        .next(new WorkerAction.Report(new Input.GroupSampled(lease)))
        .then(state -> state.askInPlaceOf(part))
        .then(state -> state.verify(lease));
  }

  /**
   * The engine has not sampled a part of a group.
   *
   * @param replaceable whether another worker with another engine may take this one's place, which
   *     helps against nothing but failures of the engine
   */
  public Next samplingFailed(WorkerAction.Part part, Throwable failure, boolean replaceable) {
    LeaseId lease = part.assignment().lease();
    Throwable cause = Causes.of(failure);
    String reason = Causes.message(cause);
    LeaseFailure what =
        switch (cause) {
          case RequestRefusedException _ -> new LeaseFailure.OfPrompt(reason);
          case EnvironmentFailedException _ -> new LeaseFailure.OfEnvironment(reason);
          default -> new LeaseFailure.OfEngine(reason);
        };
    Next next = with(groups.endedSampling(lease).withoutSampled(lease)).next(failed(lease, what));
    boolean helps = replaceable && what instanceof LeaseFailure.OfEngine;
    return what instanceof LeaseFailure.OfPrompt || cause instanceof CancellationException
        ? next.then(state -> state.askInPlaceOf(part))
        : next.then(state -> state.sampledNothing(part, reason, helps));
  }

  /**
   * Notes a part that failed at once and would fail at once again: the worker asks for more after a
   * pause.
   */
  private Next sampledNothing(WorkerAction.Part part, String reason, boolean replaceable) {
    Demand counted = demand.failed();
    if (counted.failures() >= MOST_SAMPLE_FAILURES && replaceable) {
      return next(
          fail(
              "%s could not sample %d groups in a row, the last: %s"
                  .formatted(id, counted.failures(), reason)));
    }
    WorkerState paused = with((part.from() == 0 ? counted.ended() : counted).pause(true));
    return demand.pausing()
        ? paused.next()
        : paused.next(
            new WorkerAction.Schedule(
                new WorkerAction.Timer.Ask(), pauseAfter(counted.failures())));
  }

  /** Asks for a group once its first part is sampled or not, and never again for the others. */
  private Next askInPlaceOf(WorkerAction.Part part) {
    return part.from() == 0 ? askForOneMore() : next();
  }

  private Next askForOneMore() {
    return with(demand.ended()).ask();
  }

  private Next ask() {
    Demand awake = demand.pause(false);
    Next next = with(awake).next(new WorkerAction.CancelTimer(new WorkerAction.Timer.Ask()));
    if (draining || awake.unrequested() == 0) {
      return next;
    }
    Demand raised = awake.raised();
    return next.then(
        state ->
            state
                .with(raised)
                .next(new WorkerAction.Report(new Input.DemandRaised(id, raised.asked()))));
  }

  /** The pause of a timer is over. */
  public Next due(WorkerAction.Timer timer) {
    return switch (timer) {
      case WorkerAction.Timer.Fetch() -> fetch();
      case WorkerAction.Timer.Ask() -> ask();
      case WorkerAction.Timer.Verify(LeaseId lease) -> verify(lease);
    };
  }

  private Next verify(LeaseId lease) {
    WorkerGroups.Sampled group = groups.sampled().get(lease);
    return group == null
        ? next()
        : next(
            new WorkerAction.Verify(
                group.assignment(), group.unjudged().stream().map(group.texts()::get).toList()));
  }

  /** The verifiers have answered what they were last asked about a group. */
  public Next judged(LeaseId lease, List<Verdict> answer) {
    WorkerGroups.Sampled asked = groups.sampled().get(lease);
    if (asked == null) {
      return next(); // Cancelled in the meantime.
    }
    WorkerGroups.Sampled group = asked.with(answer);
    if (!group.unjudged().isEmpty()) {
      String obstacle =
          VerdictSummary.firstObstacle(answer.stream().filter(VerdictSummary::away).toList());
      return with(groups.with(group))
          .next(
              new WorkerAction.Report(new Input.VerifierAway(lease, obstacle)),
              new WorkerAction.Schedule(
                  new WorkerAction.Timer.Verify(lease), pauseAfter(group.failures())));
    }
    List<Verdict> verdicts = List.copyOf(group.verdicts().values());
    List<Double> rewards = VerdictSummary.rewards(verdicts);
    int more = rewards.size() < verdicts.size() ? 0 : size.next(rewards);
    if (more > 0) {
      Assignment assignment = group.assignment();
      return with(groups.with(group).startedSampling(List.of(assignment)))
          .next(
              new WorkerAction.Sample(
                  List.of(new WorkerAction.Part(assignment, rewards.size(), more))));
    }
    return with(groups.withoutSampled(lease))
        .next(new WorkerAction.RecordVerdicts(group, verdicts), outcome(group, verdicts));
  }

  /** Delivers a group of which every completion has a reward; otherwise it fails. */
  private WorkerAction outcome(WorkerGroups.Sampled group, List<Verdict> verdicts) {
    Assignment assignment = group.assignment();
    List<Double> rewards = VerdictSummary.rewards(verdicts);
    if (rewards.size() < verdicts.size()) {
      return failed(
          assignment.lease(), new LeaseFailure.OfPrompt(VerdictSummary.firstObstacle(verdicts)));
    }
    ScoredGroup scored =
        new ScoredGroup(assignment.lease(), assignment.tokens(), group.episodes(), rewards);
    return new WorkerAction.Deliver(scored, weights.digests().of(scored.completions()));
  }

  private static WorkerAction failed(LeaseId lease, LeaseFailure failure) {
    return new WorkerAction.Report(new Input.GroupFailed(lease, failure));
  }

  private static WorkerAction fail(String reason) {
    return new WorkerAction.Fail(new IllegalStateException(reason));
  }

  private static Duration pauseAfter(int failures) {
    return Duration.ofMillis(BACKOFF.pauseMillis(failures));
  }

  private Next next(WorkerAction... actions) {
    return new Next(this, List.of(actions));
  }

  private WorkerState with(Weights newer) {
    return new WorkerState(id, size, newer, groups, demand, draining, released);
  }

  private WorkerState with(WorkerGroups newer) {
    return new WorkerState(id, size, weights, newer, demand, draining, released);
  }

  private WorkerState with(Demand newer) {
    return new WorkerState(id, size, weights, groups, newer, draining, released);
  }
}
