package io.troupe.core.outage;

import static io.troupe.core.Require.require;

/**
 * The patience of a run with infrastructure that fails.
 *
 * @param firstPauseMillis time for which a breaker that opens holds work back before the first
 *     probe
 * @param longestPauseMillis the pause doubles with every probe that fails, up to this
 * @param timeoutMillis a run in which nothing has succeeded for so long, and only because of
 *     failures, ends as failed
 */
public record OutageLimits(long firstPauseMillis, long longestPauseMillis, long timeoutMillis) {
  private static final long FIRST_PAUSE = 1_000;
  private static final long LONGEST_PAUSE = 120_000;

  /** Half an hour, which outlasts the restart of a machine. */
  public static final OutageLimits DEFAULT = ofTimeout(1_800_000);

  public OutageLimits {
    require(firstPauseMillis >= 1, "a pause lasts 1 ms or more, not %d", firstPauseMillis);
    require(
        longestPauseMillis >= firstPauseMillis,
        "the longest pause (%d ms) is not below the first (%d ms)",
        longestPauseMillis,
        firstPauseMillis);
    require(timeoutMillis >= 1, "outage_timeout is 1 ms or more, not %d", timeoutMillis);
  }

  /** Limits with the usual pauses: a second at first, two minutes at most. */
  public static OutageLimits ofTimeout(long millis) {
    return new OutageLimits(FIRST_PAUSE, LONGEST_PAUSE, millis);
  }
}
