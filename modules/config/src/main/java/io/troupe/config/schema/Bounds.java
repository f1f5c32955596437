package io.troupe.config.schema;

import java.math.BigDecimal;

/** The numbers a key allows. */
public record Bounds(double min, double max, boolean minExclusive, boolean maxExclusive) {
  /** Every number. */
  static final Bounds NONE =
      new Bounds(Double.NEGATIVE_INFINITY, Double.POSITIVE_INFINITY, false, false);

  static Bounds of(Range range) {
    return new Bounds(range.min(), range.max(), range.minExclusive(), range.maxExclusive());
  }

  public boolean allows(double number) {
    boolean above = minExclusive ? number > min : number >= min;
    boolean below = maxExclusive ? number < max : number <= max;
    return above && below;
  }

  /**
   * The bounds in words, such as "1 or greater", or empty when there are none.
   *
   * @param unit written behind each number, such as "s"
   */
  String describe(String unit) {
    String low = number(min) + unit;
    String high = number(max) + unit;
    boolean bottomless = Double.isInfinite(min);
    boolean topless = Double.isInfinite(max);
    if (bottomless && topless) {
      return "";
    } else if (topless) {
      return minExclusive ? "greater than " + low : low + " or greater";
    } else if (bottomless) {
      return maxExclusive ? "less than " + high : high + " or less";
    }
    return "from %s%s to %s%s"
        .formatted(low, minExclusive ? " (excluded)" : "", high, maxExclusive ? " (excluded)" : "");
  }

  private static String number(double value) {
    return Double.isInfinite(value)
        ? ""
        : BigDecimal.valueOf(value).stripTrailingZeros().toPlainString();
  }
}
