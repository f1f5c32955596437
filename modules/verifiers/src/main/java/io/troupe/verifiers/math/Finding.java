package io.troupe.verifiers.math;

/**
 * Whether two answers are the same, and how that was seen.
 *
 * @param reason for a person
 */
record Finding(Kind kind, String reason) {
  enum Kind {
    EQUAL,
    DIFFERENT,
    /** The gold answer would take more than the budget. */
    GOLD_TOO_LARGE
  }

  static Finding equal(String reason) {
    return new Finding(Kind.EQUAL, reason);
  }

  static Finding different(String reason) {
    return new Finding(Kind.DIFFERENT, reason);
  }

  boolean isEqual() {
    return kind == Kind.EQUAL;
  }
}
