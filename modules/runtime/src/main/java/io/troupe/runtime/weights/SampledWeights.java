package io.troupe.runtime.weights;

import io.troupe.core.weights.WeightVersion;

/**
 * A worker's record of the weights that sampled some tokens of a group.
 *
 * @param version version under which the weights were published
 * @param digest of the weights that were really in its engine
 */
public record SampledWeights(WeightVersion version, String digest) {}
