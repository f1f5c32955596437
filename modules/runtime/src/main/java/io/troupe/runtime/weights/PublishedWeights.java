package io.troupe.runtime.weights;

import io.troupe.core.weights.WeightVersion;

/**
 * Describes weights without carrying them.
 *
 * @param version what they are
 * @param digest as in {@link io.troupe.engine.weights.WeightSnapshot}
 * @param place where a {@link WeightSource} of the same run finds them
 */
public record PublishedWeights(WeightVersion version, String digest, String place) {}
