package io.troupe.tasks.rows;

import static io.troupe.core.Require.require;

import java.math.BigDecimal;
import java.math.MathContext;

/**
 * The share of the rows of a data set that may be refused without ending the start.
 *
 * @param share in [0, 1)
 * @param key that sets it, for messages; empty if there is none
 */
public record RefusalLimit(double share, String key) {
  /** Every row must be right. */
  public static final RefusalLimit NONE = new RefusalLimit(0, "");

  public RefusalLimit {
    require(share >= 0 && share < 1, "the share of refused rows lies in [0, 1), not %s", share);
  }

  /** Whether a run may go on without the refused rows. */
  boolean allows(int refused, int rows) {
    return refused == 0 || (refused < rows && refused <= share * rows);
  }

  /** Returns what to do about more refused rows than are allowed. */
  String remedy(int refused, int rows) {
    if (key.isEmpty() || refused == rows) {
      return "correct or remove them";
    }
    return share == 0
        ? "correct or remove them, or let up to a share of %s be left out by %s"
            .formatted(shareOf(refused, rows), key)
        : "correct or remove them, or raise %s (%s)".formatted(key, share);
  }

  private static String shareOf(int refused, int rows) {
    double exact = (double) refused / rows;
    double step = exact < 0.01 ? 0.001 : 0.01;
    return BigDecimal.valueOf(Math.ceil(exact / step) * step)
        .round(new MathContext(3))
        .stripTrailingZeros()
        .toPlainString();
  }
}
