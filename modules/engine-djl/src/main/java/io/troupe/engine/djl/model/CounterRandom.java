package io.troupe.engine.djl.model;

/**
 * The uniform numbers behind sampled tokens, as a function of the request's seed, the completion
 * and the token: the random numbers of a row do not depend on the other rows of the batch.
 */
public final class CounterRandom {
  private static final long GOLDEN_GAMMA = 0x9E3779B97F4A7C15L;
  private static final double UNIT = 0x1p-53;

  private CounterRandom() {}

  /**
   * Returns the number for one token.
   *
   * @return in [0, 1)
   */
  public static double uniform(long seed, int completion, int token) {
    long counter = ((long) completion << 32) | token;
    return (mix(mix(seed) + GOLDEN_GAMMA * (counter + 1)) >>> 11) * UNIT;
  }

  /** SplitMix64's finalizer (Steele, Lea and Flood 2014): a bijection that scatters every bit. */
  static long mix(long z) {
    long a = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    long b = (a ^ (a >>> 27)) * 0x94D049BB133111EBL;
    return b ^ (b >>> 31);
  }
}
