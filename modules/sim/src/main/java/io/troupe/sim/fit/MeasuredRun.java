package io.troupe.sim.fit;

import io.troupe.core.completion.TokenVersions;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.GroupSummary;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.run.Event;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Times, lengths and rewards from the journal of a run: its events, in order. */
public final class MeasuredRun {
  private static final double MILLIS = 1e3;

  private final Map<LeaseId, Open> open = new HashMap<>();
  private final Map<GroupId, GroupSummary> buffered = new HashMap<>();
  private final List<MeasuredGroupLife> groups = new ArrayList<>();
  private final List<MeasuredStep> steps = new ArrayList<>();
  private final Set<String> places = new HashSet<>();
  private Set<GroupId> training = Set.of();
  private long version;
  private long stepStarted;
  private long stepTokens;
  private Map<Long, Long> stepStaleness = Map.of();
  private long unfinished;
  private long deaths;
  private long staleTokens;
  private long trainedTokens;
  private Optional<String> device = Optional.empty();
  private long first;
  private long last;

  private static final class Open {
    private final String worker;
    private final long granted;
    private long sampled;

    private Open(String worker, long granted) {
      this.worker = worker;
      this.granted = granted;
    }
  }

  /** A step: when it ran, in milliseconds, and how many tokens of completions it had. */
  record MeasuredStep(long started, long trained, long tokens) {}

  /** Takes the next event, with the time of its record. */
  public void event(long at, Event event) {
    first = first == 0 ? at : first;
    last = at;
    switch (event) {
      case Event.LeaseGranted(LeaseId lease, WorkerId worker, var _, var _) -> {
        places.add(worker.place());
        open.put(lease, new Open(worker.place(), at));
      }
      case Event.LeaseSampled(LeaseId lease, var _) -> {
        Open held = open.get(lease);
        if (held != null) {
          held.sampled = at;
        }
      }
      case Event.LeaseEnded(LeaseId lease, var _, var _, var _) -> {
        if (open.remove(lease) != null) {
          unfinished++;
        }
      }
      case Event.GroupBuffered(GroupSummary summary) -> {
        scored(at, summary);
        buffered.put(summary.lease().group(), summary);
      }
      case Event.GroupFiltered(GroupSummary summary) -> scored(at, summary);
      case Event.StepStarted(long _, List<GroupId> batch) -> started(at, batch);
      case Event.LossTokensCounted counted -> {
        stepTokens = counted.weighted() + counted.unweighted();
        trainedTokens += counted.weighted();
        stepStaleness.forEach(
            (stale, tokens) -> staleTokens += stale > counted.maxStaleness() ? 0 : stale * tokens);
      }
      case Event.StepTrained(long number, List<GroupId> kept) -> {
        training.stream().filter(id -> !kept.contains(id)).forEach(buffered::remove);
        training = Set.of();
        steps.add(new MeasuredStep(stepStarted, at, stepTokens));
        version = number;
      }
      case Event.StepSkipped _ -> {
        buffered.keySet().removeAll(training);
        training = Set.of();
      }
      case Event.GroupSpent(LeaseId lease) -> buffered.remove(lease.group());
      case Event.WorkerLost _ -> deaths++;
      case Event.ProcessStarted(var process) ->
          device = Optional.ofNullable(process.facts().get("device"));
      case Event.RunResumed(var state) -> {
        open.clear();
        version = state.version().number();
      }
      default -> {}
    }
  }

  private void scored(long at, GroupSummary summary) {
    Open held = open.remove(summary.lease());
    if (held != null && held.sampled > 0) {
      groups.add(
          new MeasuredGroupLife(
              summary.lease().group().number(),
              held.worker,
              held.granted,
              held.sampled,
              at,
              summary.versions().stream().map(TokenVersions::tokens).toList(),
              summary.rewards()));
    }
  }

  private void started(long at, List<GroupId> batch) {
    stepStarted = at;
    training = Set.copyOf(batch);
    stepStaleness = new HashMap<>();
    for (GroupId id : batch) {
      GroupSummary summary = buffered.get(id);
      if (summary != null) {
        for (TokenVersions completion : summary.versions()) {
          for (TokenVersions.Span span : completion.spans()) {
            stepStaleness.merge(version - span.version().number(), (long) span.tokens(), Long::sum);
          }
        }
      }
    }
  }

  List<MeasuredGroupLife> groups() {
    return groups;
  }

  List<MeasuredStep> measuredSteps() {
    return steps;
  }

  /** Returns the number of groups that were sampled and judged. */
  public int groupCount() {
    return groups.size();
  }

  /** Returns the number of steps that moved the weights. */
  public int stepCount() {
    return steps.size();
  }

  /** Returns the number of places of workers. */
  public int workers() {
    return places.size();
  }

  /** Returns the number of leases that ended without an answer, whose lengths are unknown. */
  public long unfinished() {
    return unfinished;
  }

  /** Deaths of workers per hour and worker. */
  double deathsPerHour() {
    return deaths == 0 ? 0 : deaths / (hours() * Math.max(1, workers()));
  }

  /** Returns the hours from the first record to the last one. */
  public double hours() {
    return (last - first) / MILLIS / 3600;
  }

  /** Steps a second, from the end of the first step to that of the last. */
  public double stepsPerSecond() {
    return steps.size() < 2
        ? Double.NaN
        : (steps.size() - 1) * MILLIS / (steps.getLast().trained() - steps.getFirst().trained());
  }

  /** Mean staleness of the tokens that were trained on. */
  public double stalenessMean() {
    return trainedTokens == 0 ? Double.NaN : (double) staleTokens / trainedTokens;
  }

  /**
   * Returns the device on which the newest process computed the policy, where the engine names it.
   */
  public Optional<String> device() {
    return device;
  }
}
