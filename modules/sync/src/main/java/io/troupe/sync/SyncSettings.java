package io.troupe.sync;

import static io.troupe.core.Require.require;

import java.time.Duration;

/**
 * How a run is copied.
 *
 * @param every how often the folder is looked at
 * @param bytesPerSecond most bytes sent a second, over some seconds; 0 for no bound
 * @param atEnd how long the end of the run waits until everything is stored
 */
public record SyncSettings(Duration every, long bytesPerSecond, Duration atEnd) {
  public SyncSettings {
    require(!every.isNegative() && !every.isZero(), "a copy needs an interval, not %s", every);
    require(bytesPerSecond >= 0, "a bandwidth is 0 or greater, not %d", bytesPerSecond);
  }
}
