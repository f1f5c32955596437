package io.troupe.verifiers.math;

/**
 * What one comparison may cost, counted in steps of about 50 ns rather than by a clock, so that a
 * verdict depends on the answers alone.
 */
final class Budget {
  /** About 30 ms of work. */
  static final long STEPS = 600_000;

  /** Integers beyond about ten thousand decimal digits are not computed. */
  static final int MOST_BITS = 32_768;

  private long left;

  Budget() {
    this(STEPS);
  }

  Budget(long steps) {
    left = steps;
  }

  void spend(long steps) {
    left -= steps;
    if (left < 0) {
      throw new Unresolved(Unresolved.Why.TOO_LARGE);
    }
  }

  long left() {
    return left;
  }
}
