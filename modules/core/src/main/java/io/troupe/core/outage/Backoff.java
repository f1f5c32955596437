package io.troupe.core.outage;

import static io.troupe.core.Require.require;

/**
 * Exponential back-off: the pause before the next attempt doubles with every failure in a row.
 *
 * @param firstMillis pause after the first failure
 * @param longestMillis longest pause
 */
public record Backoff(long firstMillis, long longestMillis) {
  private static final int MOST_DOUBLINGS = 30;

  public Backoff {
    require(
        firstMillis >= 0 && firstMillis <= longestMillis,
        "the first pause (%d ms) is at most the longest (%d ms)",
        firstMillis,
        longestMillis);
    require(
        longestMillis <= Long.MAX_VALUE >> MOST_DOUBLINGS,
        "a pause of %d ms never ends",
        longestMillis);
  }

  /**
   * The pause before the next attempt.
   *
   * @param failures in a row; no pause after none
   */
  public long pauseMillis(int failures) {
    if (failures <= 0) {
      return 0;
    }
    return Math.min(longestMillis, firstMillis << Math.min(MOST_DOUBLINGS, failures - 1));
  }

  /**
   * Returns the pause shortened by up to half, so that many clients that failed together do not
   * come back together.
   *
   * @param jitter in [0, 1); drawn again for each pause
   */
  public long pauseMillis(int failures, double jitter) {
    return (long) (pauseMillis(failures) * (0.5 + jitter / 2));
  }
}
