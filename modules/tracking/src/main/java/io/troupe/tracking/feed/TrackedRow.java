package io.troupe.tracking.feed;

import java.util.Map;

/**
 * The numbers of a training step.
 *
 * @param atMillis when the step ended, since 1970
 * @param values by their names in trackers
 */
public record TrackedRow(long step, long atMillis, Map<String, Double> values) {}
