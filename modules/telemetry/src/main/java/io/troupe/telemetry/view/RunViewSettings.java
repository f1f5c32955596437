package io.troupe.telemetry.view;

import io.troupe.core.run.RunLimits;
import java.util.Locale;

/**
 * The settings of a run that its views are drawn against.
 *
 * @param run name of the run's folder
 * @param groupsPerStep B
 * @param completionsPerPrompt G
 * @param maxStaleness eta, in versions
 * @param stale treatment of stale groups: mask, drop or wait
 * @param maxConcurrentGroups most groups under lease
 * @param steps the run is to make
 * @param groupUses steps that train on a group, at most
 */
public record RunViewSettings(
    String run,
    int groupsPerStep,
    int completionsPerPrompt,
    int maxStaleness,
    String stale,
    int maxConcurrentGroups,
    long steps,
    long groupUses) {
  /** The facts that follow from a run's limits. */
  public static RunViewSettings of(String run, RunLimits limits) {
    return new RunViewSettings(
        run,
        limits.step().groups(),
        limits.groups().size().part(),
        limits.step().maxStaleness(),
        limits.step().stale().name().toLowerCase(Locale.ROOT),
        limits.groups().maxConcurrent(),
        limits.schedule().steps(),
        limits.step().uses());
  }
}
