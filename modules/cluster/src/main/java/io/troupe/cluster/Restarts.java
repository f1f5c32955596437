package io.troupe.cluster;

import static io.troupe.core.Require.require;

import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * When a child process that ended is started again: after a pause that doubles with every end, and
 * no more once it ended too often within a window. One that stayed up for a window starts afresh.
 *
 * @param policy the numbers
 * @param endings times of its ends within the last window, in milliseconds, ascending
 */
public record Restarts(Policy policy, List<Long> endings) {
  /**
   * The numbers of the rule.
   *
   * @param most ends within a window after which it is given up
   * @param windowMillis how long an end counts
   * @param firstMillis pause after the first end
   * @param longestMillis longest pause
   */
  public record Policy(int most, long windowMillis, long firstMillis, long longestMillis) {
    /** Five ends in ten minutes; pauses of 1, 2, 4 and 8 seconds between them. */
    public static final Policy DEFAULT = new Policy(5, 600_000, 1_000, 30_000);

    public Policy {
      require(most >= 1, "a child may end 1 or more times, not %d", most);
      require(
          firstMillis >= 0 && longestMillis >= firstMillis,
          "pauses grow from %d ms to no less, not to %d ms",
          firstMillis,
          longestMillis);
    }
  }

  public Restarts {
    endings = List.copyOf(endings);
  }

  public static Restarts none(Policy policy) {
    return new Restarts(policy, List.of());
  }

  /** With one more end. */
  public Restarts ended(long nowMillis) {
    return new Restarts(
        policy,
        Stream.concat(
                endings.stream().filter(end -> end > nowMillis - policy.windowMillis()),
                Stream.of(nowMillis))
            .toList());
  }

  /** How long to wait before the next start, in milliseconds; empty when it is given up. */
  public Optional<Long> pauseMillis() {
    if (endings.size() >= policy.most()) {
      return Optional.empty();
    }
    long doubled = policy.firstMillis() << Math.min(30, Math.max(0, endings.size() - 1));
    return Optional.of(Math.min(policy.longestMillis(), doubled));
  }
}
