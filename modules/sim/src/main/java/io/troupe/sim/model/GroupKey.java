package io.troupe.sim.model;

import io.troupe.core.SplitMix64;

/**
 * The key by which a group's random numbers are drawn.
 *
 * @param group number of the group in order of admission, from 1
 * @param draws number of times that the group was sampled before
 */
public record GroupKey(long seed, long group, int prompt, long epoch, int draws) {
  /** The entity of numbers that are new with every sampling of a group. */
  long draw() {
    return SplitMix64.mix(prompt + (epoch << 32)) + draws;
  }
}
