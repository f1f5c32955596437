package io.troupe.soak;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * One thing that a soak does to a cluster.
 *
 * @param targetIndex index among several such processes, modulo their number
 * @param pause time for which the process is stopped, if it is
 * @param gap time between everything being well again and the blow
 * @param duringRecovery whether it falls while the cluster still gets over the last one
 */
record ClusterFault(
    Kind kind, int targetIndex, Duration pause, Duration gap, boolean duringRecovery) {
  private static final int MOST_PAUSE_MILLIS = 10_000;
  private static final int LEAST_PAUSE_MILLIS = 500;
  private static final int MOST_GAP_MILLIS = 3_000;
  private static final int OVERLAP_ONE_IN = 6;

  /** The process that a fault hits. */
  enum Target {
    WORKER,
    COORDINATOR,
    STANDBY,
    NODE,
    /** A verifier, an agent or an agent's sandbox. */
    PROGRAM
  }

  /** The effect on the process. */
  enum Action {
    /** SIGKILL. */
    KILL,
    /** SIGTERM. */
    TERM,
    /** SIGSTOP, and SIGCONT later. */
    STOP
  }

  /** A deed done to a part. */
  record Kind(Action action, Target target) {
    @Override
    public String toString() {
      return (action + " " + target).toLowerCase(Locale.ROOT);
    }
  }

  private record Weighted(Kind kind, int weight) {}

  private static final List<Weighted> KINDS =
      List.of(
          weighted(Action.KILL, Target.WORKER, 14),
          weighted(Action.KILL, Target.COORDINATOR, 14),
          weighted(Action.KILL, Target.STANDBY, 5),
          weighted(Action.KILL, Target.NODE, 10),
          weighted(Action.KILL, Target.PROGRAM, 12),
          weighted(Action.TERM, Target.WORKER, 6),
          weighted(Action.TERM, Target.COORDINATOR, 6),
          weighted(Action.TERM, Target.NODE, 8),
          weighted(Action.STOP, Target.WORKER, 10),
          weighted(Action.STOP, Target.COORDINATOR, 8),
          weighted(Action.STOP, Target.NODE, 7));

  private static Weighted weighted(Action deed, Target part, int weight) {
    return new Weighted(new Kind(deed, part), weight);
  }

  /** The next of a schedule, which follows from the seed of {@code random} alone. */
  static ClusterFault next(SplittableRandom random) {
    return new ClusterFault(
        kind(random),
        random.nextInt(1_000),
        Duration.ofMillis(random.nextInt(LEAST_PAUSE_MILLIS, MOST_PAUSE_MILLIS)),
        Duration.ofMillis(random.nextInt(MOST_GAP_MILLIS)),
        random.nextInt(OVERLAP_ONE_IN) == 0);
  }

  private static Kind kind(SplittableRandom random) {
    int dice = random.nextInt(KINDS.stream().mapToInt(Weighted::weight).sum());
    for (Weighted one : KINDS) {
      dice -= one.weight();
      if (dice < 0) {
        return one.kind();
      }
    }
    throw new IllegalStateException("weights do not add up");
  }

  /** The one it falls on; empty when there is none. */
  <T> Optional<T> choose(List<T> processes) {
    return processes.isEmpty()
        ? Optional.empty()
        : Optional.of(processes.get(targetIndex % processes.size()));
  }
}
