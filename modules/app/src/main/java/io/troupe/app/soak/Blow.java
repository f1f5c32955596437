package io.troupe.app.soak;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * One thing that a soak does to a cluster.
 *
 * @param pick which of several such processes, modulo their number
 * @param pause how long it is stopped, if it is
 * @param gap time between everything being well again and the blow
 * @param hasty whether it falls while the cluster still gets over the last one
 */
record Blow(Kind kind, int pick, Duration pause, Duration gap, boolean hasty) {
  private static final int MOST_PAUSE_MILLIS = 10_000;
  private static final int LEAST_PAUSE_MILLIS = 500;
  private static final int MOST_GAP_MILLIS = 3_000;
  private static final int ONE_IN_SO_MANY_IS_HASTY = 6;

  /** Which process is struck. */
  enum Part {
    WORKER,
    HEAD,
    STANDBY,
    NODE,
    VERIFIER
  }

  /** What is done to it. */
  enum Deed {
    /** SIGKILL. */
    KILL,
    /** SIGTERM. */
    TERM,
    /** SIGSTOP, and SIGCONT later. */
    STOP
  }

  /** A deed done to a part. */
  record Kind(Deed deed, Part part) {
    @Override
    public String toString() {
      return (deed + " " + part).toLowerCase(Locale.ROOT);
    }
  }

  private record Weighted(Kind kind, int weight) {}

  private static final List<Weighted> KINDS =
      List.of(
          weighted(Deed.KILL, Part.WORKER, 14),
          weighted(Deed.KILL, Part.HEAD, 14),
          weighted(Deed.KILL, Part.STANDBY, 5),
          weighted(Deed.KILL, Part.NODE, 10),
          weighted(Deed.KILL, Part.VERIFIER, 12),
          weighted(Deed.TERM, Part.WORKER, 6),
          weighted(Deed.TERM, Part.HEAD, 6),
          weighted(Deed.TERM, Part.NODE, 8),
          weighted(Deed.STOP, Part.WORKER, 10),
          weighted(Deed.STOP, Part.HEAD, 8),
          weighted(Deed.STOP, Part.NODE, 7));

  private static Weighted weighted(Deed deed, Part part, int weight) {
    return new Weighted(new Kind(deed, part), weight);
  }

  /** The next of a schedule, which follows from the seed of {@code random} alone. */
  static Blow next(SplittableRandom random) {
    return new Blow(
        kind(random),
        random.nextInt(1_000),
        Duration.ofMillis(random.nextInt(LEAST_PAUSE_MILLIS, MOST_PAUSE_MILLIS)),
        Duration.ofMillis(random.nextInt(MOST_GAP_MILLIS)),
        random.nextInt(ONE_IN_SO_MANY_IS_HASTY) == 0);
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
        : Optional.of(processes.get(pick % processes.size()));
  }
}
