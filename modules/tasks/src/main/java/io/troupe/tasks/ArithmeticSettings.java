package io.troupe.tasks;

import static io.troupe.core.Require.require;

/**
 * The range and operation of arithmetic prompts, and the format of their numbers.
 *
 * @param operation between the two operands
 * @param min least operand, 0 or greater
 * @param max greatest operand, at least {@code min}; all ordered pairs are prompts, at most a
 *     million
 * @param padded whether numbers have leading zeros up to the width of the greatest number: {@code
 *     07+45=} is answered {@code 052}
 * @param reversed whether the answer's digits are written least significant first (so that a carry
 *     is known before the digit that it is added to): {@code 37+45=} is answered {@code 28}; the
 *     sign stays in front
 * @param addend whether a third number of the same range is added to the result: {@code 37*45+12=}
 * @param calculatorShare share of the solutions that call tools before they answer: a calculator,
 *     or, with an addend, one tool for each operation
 */
public record ArithmeticSettings(
    Operation operation,
    int min,
    int max,
    boolean padded,
    boolean reversed,
    boolean addend,
    double calculatorShare) {
  private static final long MOST_PAIRS = 1_000_000;

  /** The operation between two numbers. */
  public enum Operation {
    ADDITION("add", '+'),
    SUBTRACTION("sub", '-'),
    MULTIPLICATION("mul", '*');

    private final String key;
    private final char sign;

    Operation(String key, char sign) {
      this.key = key;
      this.sign = sign;
    }

    /** The prefix of prompt ids. */
    String key() {
      return key;
    }

    /** The character between the operands. */
    char sign() {
      return sign;
    }

    long apply(long a, long b) {
      return switch (this) {
        case ADDITION -> a + b;
        case SUBTRACTION -> a - b;
        case MULTIPLICATION -> a * b;
      };
    }
  }

  /** Prompts whose solutions call no tool. */
  public ArithmeticSettings(
      Operation operation, int min, int max, boolean padded, boolean reversed) {
    this(operation, min, max, padded, reversed, false, 0);
  }

  /**
   * Returns these settings with tools in a share of the solutions.
   *
   * @param third whether a third number is added to the result
   */
  public ArithmeticSettings withTools(boolean third, double share) {
    return new ArithmeticSettings(operation, min, max, padded, reversed, third, share);
  }

  public ArithmeticSettings {
    require(
        calculatorShare >= 0 && calculatorShare <= 1,
        "the share of solutions that call a calculator lies in [0, 1], not %s",
        calculatorShare);
    require(min >= 0, "the least operand is 0 or greater, not %d", min);
    require(max >= min, "the greatest operand (%d) is at least the least one (%d)", max, min);
    long operands = (long) max - min + 1;
    require(
        operands * operands <= MOST_PAIRS,
        "operands from %d to %d make %d prompts, and the limit is %d; narrow the range",
        min,
        max,
        operands * operands,
        MOST_PAIRS);
  }
}
