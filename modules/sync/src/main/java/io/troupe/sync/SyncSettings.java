package io.troupe.sync;

import static io.troupe.core.Require.require;

import java.time.Duration;

/**
 * The settings of a run's copy.
 *
 * @param every time between two looks at the folder
 * @param bytesPerSecond most bytes sent a second, over some seconds; 0 for no bound
 * @param atEnd time for which the end of the run waits until everything is stored
 */
public record SyncSettings(Duration every, long bytesPerSecond, Duration atEnd) {
  public SyncSettings {
    require(!every.isNegative() && !every.isZero(), "a copy needs an interval, not %s", every);
    require(bytesPerSecond >= 0, "a bandwidth is 0 or greater, not %d", bytesPerSecond);
  }
}
