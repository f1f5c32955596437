package io.troupe.engine.toy;

/**
 * Uniform random numbers as a function of seed and counters, not of the order of calls: the n-th
 * token of a completion gets the same number regardless of the other requests.
 */
final class ToyRandom {
  private static final long GOLDEN = 0x9e3779b97f4a7c15L;

  private ToyRandom() {}

  /** Returns a number in [0, 1) for a seed and two counters. */
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
