package io.troupe.run.replay;

import static io.troupe.core.Require.require;

/**
 * The part of a run that is made again.
 *
 * @param from step up to which the replay may begin: it begins at the newest place at or before it
 * @param to the last step
 * @param anyway whether to continue with another library or machine than the run's
 * @param training whether to make the steps alone, from stored tokens
 */
public record ReplaySettings(long from, long to, boolean anyway, boolean training) {
  public ReplaySettings {
    require(from >= 0, "--from is a step, 0 or greater, not %d", from);
    require(to >= from, "--to (%d) is not before --from (%d)", to, from);
  }
}
