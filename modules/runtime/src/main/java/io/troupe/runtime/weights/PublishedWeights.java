package io.troupe.runtime.weights;

import io.troupe.core.weights.WeightVersion;

/**
 * Describes weights without carrying them.
 *
 * @param version version of the weights
 * @param digest as in {@link io.troupe.engine.weights.WeightSnapshot}
 * @param place address at which a {@link WeightSource} of the same run finds them
 */
public record PublishedWeights(WeightVersion version, String digest, String place) {}
