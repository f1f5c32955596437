package io.troupe.engine.toy;

/**
 * Uniform numbers that are a function of what they are for, not of how many were drawn before: the
 * n-th token of a completion draws the same number whatever else is sampled beside it.
 */
final class ToyRandom {
  private static final long GOLDEN = 0x9e3779b97f4a7c15L;

  private ToyRandom() {}

  /** A number in [0, 1), for a seed and two counters. */
  static double uniform(long seed, long first, long second) {
    long bits = mix(mix(mix(seed + GOLDEN) + first * GOLDEN) + second * GOLDEN);
    return (bits >>> 11) * 0x1p-53;
  }

  /** The finaliser of SplitMix64 (Steele et al. 2014). */
  private static long mix(long z) {
    z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }
}
