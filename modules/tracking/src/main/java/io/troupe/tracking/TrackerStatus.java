package io.troupe.tracking;

/**
 * The distance of a tracker from its run.
 *
 * @param step the last one sent; -1 before the first
 * @param remote the run's id there, or the name of its file; "" before the first
 * @param complete whether everything that the run folder has was sent
 * @param problem why the last attempt failed; "" if it did not
 */
public record TrackerStatus(
    TrackerKind tracker, long step, String remote, boolean complete, String problem) {}
