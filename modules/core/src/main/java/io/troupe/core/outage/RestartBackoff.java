package io.troupe.core.outage;

import static io.troupe.core.Require.require;

import java.util.List;
import java.util.stream.Stream;

/**
 * The time at which a process that failed is started again: after a pause that doubles with every
 * end, and from some number of ends within a window on after a long one. A process is never given
 * up here, because a cause that many share (a file system, a driver, a certificate) may last longer
 * than any number of quick starts. A process that stayed up for a window starts without a pause.
 *
 * @param policy the numbers
 * @param endings times of the ends that count, in milliseconds, ascending
 */
public record RestartBackoff(Settings policy, List<Long> endings) {
  /**
   * The numbers of the rule.
   *
   * @param most ends within a window after which it is persistent
   * @param windowMillis time for which an end counts
   * @param firstMillis pause after the first end
   * @param longestMillis longest pause before it is persistent
   * @param persistentMillis pause from then on
   */
  public record Settings(
      int most, long windowMillis, long firstMillis, long longestMillis, long persistentMillis) {
    /** Pauses of 1, 2, 4 and 8 s; from five ends in ten minutes on, 5 min. */
    public static final Settings DEFAULT = new Settings(5, 600_000, 1_000, 30_000, 300_000);

    /**
     * Pauses of 1 and 2 s, and persistent with the third end in ten minutes: of what then ends the
     * process it is in, which another process starts again.
     */
    public static final Settings WITHIN_A_PROCESS = new Settings(3, 600_000, 1_000, 30_000, 30_000);

    public Settings {
      require(most >= 1, "a failure is persistent after 1 or more ends, not %d", most);
      require(
          firstMillis >= 0 && longestMillis >= firstMillis && persistentMillis >= longestMillis,
          "pauses grow from %d ms to no less, not to %d ms and then %d ms",
          firstMillis,
          longestMillis,
          persistentMillis);
    }

    /** Returns these settings for a child whose start alone may take a time before it fails. */
    public Settings startingWithin(long millis) {
      return new Settings(
          most, windowMillis + most * millis, firstMillis, longestMillis, persistentMillis);
    }
  }

  public RestartBackoff {
    endings = List.copyOf(endings);
  }

  public static RestartBackoff none(Settings policy) {
    return new RestartBackoff(policy, List.of());
  }

  /** Notes that the child ended once more. */
  public RestartBackoff ended(long nowMillis) {
    long oldest = nowMillis - policy.windowMillis();
    // Ends that are far apart because the pauses are long are still ends in a row.
    boolean continues = persistent() && endings.getLast() > oldest;
    List<Long> counted =
        Stream.concat(
                endings.stream().filter(end -> continues || end > oldest), Stream.of(nowMillis))
            .toList();
    return new RestartBackoff(
        policy, counted.subList(Math.max(0, counted.size() - policy.most()), counted.size()));
  }

  /** Whether the child ended so often that quick starts are no use. */
  public boolean persistent() {
    return endings.size() >= policy.most();
  }

  /** Returns the pause before the next start, in milliseconds. */
  public long pauseMillis() {
    if (persistent()) {
      return policy.persistentMillis();
    }
    return new Backoff(policy.firstMillis(), policy.longestMillis())
        .pauseMillis(Math.max(1, endings.size()));
  }
}
