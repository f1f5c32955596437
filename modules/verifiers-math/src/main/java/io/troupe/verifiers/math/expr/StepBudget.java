package io.troupe.verifiers.math.expr;

/**
 * The cost that one comparison may have, counted in steps of about 50 ns rather than by a clock, so
 * that a verdict depends on the answers alone.
 */
public final class StepBudget {
  /** About 30 ms of work. */
  static final long STEPS = 600_000;

  /** Integers beyond about ten thousand decimal digits are not computed. */
  public static final int MOST_BITS = 32_768;

  private long left;

  public StepBudget() {
    this(STEPS);
  }

  StepBudget(long steps) {
    left = steps;
  }

  /** Takes steps from the budget; throws an {@link UnresolvedException} when it is used up. */
  public void spend(long steps) {
    left -= steps;
    if (left < 0) {
      throw new UnresolvedException(UnresolvedException.Why.TOO_LARGE);
    }
  }

  /** Returns the number of steps that are left. */
  public long left() {
    return left;
  }
}
