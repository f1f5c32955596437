package io.troupe.core;

/** Checks of arguments and of invariants, with messages that name the rule and the value. */
public final class Require {
  private Require() {}

  /**
   * Refuses a bad argument.
   *
   * @throws IllegalArgumentException with {@code message} when {@code rule} does not hold
   */
  public static void require(boolean rule, String message) {
    if (!rule) {
      throw new IllegalArgumentException(message);
    }
  }

  /**
   * Refuses a bad argument, formatting the message only then.
   *
   * @throws IllegalArgumentException when {@code rule} does not hold
   */
  public static void require(boolean rule, String format, Object... values) {
    if (!rule) {
      throw new IllegalArgumentException(format.formatted(values));
    }
  }

  /**
   * States what the code around it guarantees.
   *
   * @throws IllegalStateException when {@code rule} does not hold: a defect of Troupe, never of its
   *     input
   */
  public static void invariant(boolean rule, String format, Object... values) {
    if (!rule) {
      throw new IllegalStateException(format.formatted(values));
    }
  }
}
