package io.troupe.telemetry.view;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** The graph of waits: who waits for whom, since when, and the cause of all waits. */
final class WaitGraph {
  /** The most tools that a view lists; a policy may have more. */
  private static final int MOST_HELD = 10;

  private static final int MOST_SAID = 3;

  private final RunFold fold;
  private final long now;
  private final List<RunView.Wait> heldTurns;
  private final List<RunView.Wait> waits = new ArrayList<>();

  WaitGraph(RunFold fold, long now, List<RunView.Wait> heldTurns) {
    this.fold = fold;
    this.now = Math.max(now, fold.lastAt);
    this.heldTurns =
        heldTurns.stream()
            .sorted(Comparator.comparingLong(RunView.Wait::since))
            .limit(MOST_HELD)
            .toList();
  }

  RunView.Waits waits() {
    if (fold.phase.equals("ended")) {
      return new RunView.Waits(
          fold.lastAt, "Nobody waits: the run is over, " + fold.end + ".", List.of());
    }
    if (fold.phase.equals("starting")) {
      long since = fold.firstAt == 0 ? now : fold.firstAt;
      waits.add(new RunView.Wait("run", "trainer", since, "the policy is being made ready"));
      return new RunView.Waits(
          now, "The run waits for the trainer to make the policy ready.", waits);
    }
    boolean training = fold.count("training") > 0;
    if (!training) {
      trainerWaits();
    }
    workersWait(training);
    groupsWait();
    waits.addAll(heldTurns);
    return new RunView.Waits(now, root(training), List.copyOf(waits));
  }

  private void trainerWaits() {
    long since = Math.max(fold.lastStepAt, fold.firstAt);
    long missing = fold.facts.groupsPerStep() - fold.count("buffered");
    String why =
        missing > 0
            ? "%d of %d groups are missing".formatted(missing, fold.facts.groupsPerStep())
            : "a step may not begin now";
    if (fold.count("sampling") > 0) {
      waits.add(new RunView.Wait("trainer", "rollout", since, why));
    }
    if (fold.count("verifying") > 0) {
      waits.add(new RunView.Wait("trainer", "verification", since, why));
    }
    if (fold.count("sampling") + fold.count("verifying") == 0) {
      waits.add(new RunView.Wait("trainer", "admission", since, why));
    }
  }

  private void workersWait(boolean training) {
    for (WorkerTimeline worker : fold.workers.all()) {
      if (worker.present && worker.sampling == 0 && worker.demand() > 0) {
        waits.add(
            new RunView.Wait(
                worker.name,
                "admission",
                worker.idleSince,
                "it asks for %d groups".formatted(worker.demand())));
      }
    }
    if (fold.controls.paused()) {
      waits.add(
          new RunView.Wait(
              "admission", "operator " + fold.pausedBy, fold.pausedAt, "it is paused"));
    } else if (!fold.phase.equals("running")) {
      waits.add(
          new RunView.Wait("admission", "the end", fold.lastStepAt, "the run is " + fold.phase));
    } else if (fold.demand > 0 && fold.capacity() == 0) {
      boolean bound =
          fold.count("sampling") + fold.count("verifying")
              < (fold.controls.concurrency() > 0
                  ? fold.controls.concurrency()
                  : fold.facts.maxConcurrentGroups());
      waits.add(
          new RunView.Wait(
              "admission",
              bound || training ? "trainer" : "rollout",
              fold.demandSince,
              bound
                  ? "the bound on staleness (%d) lets no more groups start"
                      .formatted(fold.facts.maxStaleness())
                  : "all concurrent groups are under way"));
    } else if (fold.demand == 0 && fold.count("sampling") + fold.count("verifying") == 0) {
      waits.add(new RunView.Wait("admission", "workers", fold.demandSince, "nobody asks for work"));
    }
  }

  private void groupsWait() {
    oldest("sampling")
        .ifPresent(
            life ->
                waits.add(
                    new RunView.Wait(
                        "g" + life.group,
                        life.worker,
                        life.since,
                        "it is the oldest of %d being sampled".formatted(fold.count("sampling")))));
    oldest("verifying")
        .ifPresent(
            life ->
                waits.add(
                    new RunView.Wait(
                        "g" + life.group,
                        "verification",
                        life.since,
                        "it is the oldest of %d being judged".formatted(fold.count("verifying")))));
  }

  private String longestHeld() {
    String said =
        heldTurns.stream()
            .limit(MOST_SAID)
            .map(turn -> "%s for %s".formatted(turn.on(), RunSnapshot.seconds(now - turn.since())))
            .collect(Collectors.joining(", "));
    return said.isEmpty() ? "" : " Turns wait longest for %s.".formatted(said);
  }

  private Optional<GroupTimeline> oldest(String stage) {
    return fold.live.values().stream()
        .filter(life -> life.stage.equals(stage))
        .min(Comparator.comparingLong(life -> life.since));
  }

  private String root(boolean training) {
    if (fold.controls.paused()) {
      return "Everything will come to wait for %s, who paused admission %s ago."
          .formatted(fold.pausedBy, RunSnapshot.seconds(now - fold.pausedAt));
    }
    if (training) {
      return "The trainer computes step %d for %s; what waits, waits for it."
          .formatted(fold.version + 1, RunSnapshot.seconds(now - fold.stepStartedAt));
    }
    String needs =
        "The trainer has %d of %d groups"
            .formatted(fold.count("buffered"), fold.facts.groupsPerStep());
    Optional<GroupTimeline> drawing = oldest("sampling");
    if (drawing.isPresent()) {
      GroupTimeline life = drawing.get();
      return "%s and waits for rollout: %d are being sampled, the oldest, g%d, by %s for %s.%s"
          .formatted(
              needs,
              fold.count("sampling"),
              life.group,
              life.worker,
              RunSnapshot.seconds(now - life.since),
              longestHeld());
    }
    Optional<GroupTimeline> judging = oldest("verifying");
    if (judging.isPresent()) {
      return "%s and waits for verification: %d are being judged, the oldest, g%d, for %s."
          .formatted(
              needs,
              fold.count("verifying"),
              judging.get().group,
              RunSnapshot.seconds(now - judging.get().since));
    }
    if (!fold.phase.equals("running")) {
      return "Nothing is under way: the run is " + fold.phase + ".";
    }
    return fold.demand == 0
        ? needs + " and nothing is under way: no worker asks for work."
        : needs + " and nothing is under way, though workers ask for work.";
  }
}
