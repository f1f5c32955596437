package io.troupe.verifiers.math.compare;

/**
 * Whether two answers are the same, and how that was seen.
 *
 * @param reason for a person
 */
public record ComparisonResult(Kind kind, String reason) {
  public enum Kind {
    EQUAL,
    DIFFERENT,
    /** The gold answer would take more than the budget. */
    GOLD_TOO_LARGE
  }

  public static ComparisonResult equal(String reason) {
    return new ComparisonResult(Kind.EQUAL, reason);
  }

  public static ComparisonResult different(String reason) {
    return new ComparisonResult(Kind.DIFFERENT, reason);
  }

  public boolean isEqual() {
    return kind == Kind.EQUAL;
  }
}
