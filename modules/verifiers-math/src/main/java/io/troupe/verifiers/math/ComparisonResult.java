package io.troupe.verifiers.math;

/**
 * Whether two answers are the same, and how that was seen.
 *
 * @param reason for a person
 */
record ComparisonResult(Kind kind, String reason) {
  enum Kind {
    EQUAL,
    DIFFERENT,
    /** The gold answer would take more than the budget. */
    GOLD_TOO_LARGE
  }

  static ComparisonResult equal(String reason) {
    return new ComparisonResult(Kind.EQUAL, reason);
  }

  static ComparisonResult different(String reason) {
    return new ComparisonResult(Kind.DIFFERENT, reason);
  }

  boolean isEqual() {
    return kind == Kind.EQUAL;
  }
}
