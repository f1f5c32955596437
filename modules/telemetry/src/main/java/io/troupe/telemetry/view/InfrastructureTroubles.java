package io.troupe.telemetry.view;

import io.troupe.core.run.Event;
import io.troupe.core.trace.LineBacklog;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The parts of a run's infrastructure that are out of order, as its events report them. Each change
 * is one sentence; a probe that fails changes nothing, and has none.
 *
 * <p>Not safe for use by several threads. Times are milliseconds since 1970.
 */
public final class InfrastructureTroubles {
  /** Probes are closer together, so a place that nothing is heard of has left. */
  private static final long FORGOTTEN_MILLIS = 600_000;

  private static final String VERIFIERS = "verifiers";
  private static final String RANKS = "trainer ranks";
  private static final String TRACES = "traces";
  private static final String COPY = "copy";

  private static final String TRACKER = "tracker ";

  private record Known(RunView.Trouble trouble, long lastAt) {
    /** Only workers leave: of all else nothing may be heard for long. */
    private boolean isThere(long now) {
      boolean worker = ofSampling() && !trouble.who().equals(VERIFIERS);
      return !worker || now - lastAt < FORGOTTEN_MILLIS;
    }

    /** Whether groups wait for it. */
    private boolean ofSampling() {
      String who = trouble.who();
      return !who.equals(RANKS)
          && !who.equals(TRACES)
          && !who.equals(COPY)
          && !who.startsWith(TRACKER);
    }
  }

  private final Map<String, Known> known = new LinkedHashMap<>();

  /** Takes note of an event, and says in a sentence what it changes. */
  public Optional<String> event(long at, Event event) {
    return switch (event) {
      case Event.WorkerSuspended suspension ->
          begins(
              "worker " + suspension.worker().place(),
              at,
              suspension.reason(),
              "is suspended after %d failures in a row".formatted(suspension.failures()));
      case Event.WorkerResumed(var worker) -> ends("worker " + worker.place(), at, "works again");
      case Event.VerificationSuspended(String reason, long _, long _) ->
          begins(VERIFIERS, at, reason, "are away, and nothing new is sampled until one judges");
      case Event.VerificationResumed _ -> ends(VERIFIERS, at, "judge again");
      case Event.RanksWentBack(long steps, String reason) ->
          begins(
              RANKS,
              at,
              reason,
              "go back to their last saved state and make %d %s again first"
                  .formatted(steps, steps == 1 ? "step" : "steps"));
      case Event.StepTrained _, Event.StepSkipped _ -> ends(RANKS, at, "train again");
      case Event.WorkerRetired(var worker) -> {
        known.remove("worker " + worker.place());
        yield Optional.empty();
      }
      case Event.TaskMastered(long groups) ->
          Optional.of(
              "every completion of the last %d groups was right: nothing is left to learn"
                  .formatted(groups));
      case Event.RunStarted _, Event.RunResumed _, Event.RunEnded _ -> {
        known.clear();
        yield Optional.empty();
      }
      default -> Optional.empty();
    };
  }

  /** Takes note of how many lines of the traces wait for the disk, and says what that changes. */
  public Optional<String> traces(long at, LineBacklog backlog) {
    return backlog.full()
        ? begins(
            TRACES,
            at,
            "%d lines wait, %d were refused so far".formatted(backlog.lines(), backlog.refused()),
            "are not complete, because their disk does not keep up")
        : ends(TRACES, at, "are written again, %d lines are missing".formatted(backlog.refused()));
  }

  /** Takes note of how far the run's copy is behind, and says what that changes. */
  public Optional<String> copy(long at, CopyView copy) {
    return copy.problem().isEmpty()
        ? ends(COPY, at, "is stored again")
        : begins(
            COPY,
            at,
            copy.problem(),
            "of the run is behind by %d files and checkpoints".formatted(copy.objects()));
  }

  /**
   * Takes note of whether a tracker fails, and says what that changes.
   *
   * @param step the last one that it has; -1 before the first
   * @param problem why it fails; "" if it does not
   */
  public Optional<String> tracker(long at, String name, long step, String problem) {
    return problem.isEmpty()
        ? ends(TRACKER + name, at, "works again")
        : begins(
            TRACKER + name,
            at,
            problem,
            step < 0 ? "is behind, and has no step" : "is behind at step " + step);
  }

  private Optional<String> begins(String who, long at, String reason, String what) {
    Known before = known.get(who);
    long since = before == null ? at : before.trouble().since();
    known.put(who, new Known(new RunView.Trouble(who, what, since, reason), at));
    return before == null
        ? Optional.of("%s %s: %s".formatted(who, what, reason))
        : Optional.empty();
  }

  private Optional<String> ends(String who, long at, String what) {
    return Optional.ofNullable(known.remove(who))
        .map(
            before ->
                "%s %s after %s"
                    .formatted(who, what, RunSnapshot.seconds(at - before.trouble().since())));
  }

  /** Returns the parts that are out of order at a moment, oldest first. */
  List<RunView.Trouble> at(long now) {
    return known.values().stream().filter(one -> one.isThere(now)).map(Known::trouble).toList();
  }

  /** Returns the troubles without what nothing waits for. */
  List<RunView.Trouble> ofSampling(long now) {
    return known.values().stream()
        .filter(Known::ofSampling)
        .filter(one -> one.isThere(now))
        .map(Known::trouble)
        .toList();
  }

  /** Whether nothing is sampled because of the verifiers. */
  Optional<RunView.Trouble> ofVerifiers() {
    return Optional.ofNullable(known.get(VERIFIERS)).map(Known::trouble);
  }

  /** Whether a worker is suspended. */
  boolean suspends(String place) {
    return known.containsKey("worker " + place);
  }
}
