package io.troupe.tracking.feed;

import java.util.Map;

/**
 * The numbers of a training step.
 *
 * @param atMillis end of the step, in milliseconds since 1970
 * @param values by their names in trackers
 */
public record TrackedRow(long step, long atMillis, Map<String, Double> values) {}
