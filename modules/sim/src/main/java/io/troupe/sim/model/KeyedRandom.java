package io.troupe.sim.model;

import static io.troupe.core.SplitMix64.mix;

/**
 * Random numbers by key: each is a function of seed, purpose, entity and index alone, so that two
 * runs that differ in one setting draw the same number for the same thing. {@link StrictMath} makes
 * them the same on every JVM.
 */
public final class KeyedRandom {
  /** The purpose of a number; each purpose has numbers of its own. */
  public enum Purpose {
    PROMPT(1),
    LENGTH(2),
    REWARD(3),
    VERDICT(4),
    WORKER(5),
    STEP(6),
    FAULT(7),
    GROUP(8),
    PARAMETER(9);

    private final long key;

    Purpose(long number) {
      this.key = number << 56;
    }
  }

  private static final double UNIT = 0x1.0p-53;

  private KeyedRandom() {}

  private static long bits(long seed, Purpose purpose, long entity, long index) {
    return mix(mix(mix(seed ^ purpose.key) + entity) + index);
  }

  /** Uniform in (0, 1). */
  public static double uniform(long seed, Purpose purpose, long entity, long index) {
    return ((bits(seed, purpose, entity, index) >>> 11) + 0.5) * UNIT;
  }

  /** Standard normal, by the method of Box and Muller. */
  public static double normal(long seed, Purpose purpose, long entity, long index) {
    long first = bits(seed, purpose, entity, index);
    double radius = StrictMath.sqrt(-2 * StrictMath.log(((first >>> 11) + 0.5) * UNIT));
    double angle = 2 * StrictMath.PI * (((mix(first) >>> 11) + 0.5) * UNIT);
    return radius * StrictMath.cos(angle);
  }

  /** Exponential with a mean. */
  public static double exponential(
      double mean, long seed, Purpose purpose, long entity, long index) {
    return -mean * StrictMath.log(uniform(seed, purpose, entity, index));
  }
}
