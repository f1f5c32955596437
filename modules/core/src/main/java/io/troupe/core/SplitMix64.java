package io.troupe.core;

/** The finaliser of SplitMix64 (Steele, Lea and Flood 2014): numbers in, unrelated numbers out. */
public final class SplitMix64 {
  private SplitMix64() {}

  /** A bijection of 64 bits whose every output bit depends on every input bit. */
  public static long mix(long value) {
    long z = value + 0x9E3779B97F4A7C15L;
    z = (z ^ z >>> 30) * 0xBF58476D1CE4E5B9L;
    z = (z ^ z >>> 27) * 0x94D049BB133111EBL;
    return z ^ z >>> 31;
  }
}
