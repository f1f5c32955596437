package io.troupe.verifiers.pool;

/**
 * Keeps a verifier that only fails from being asked: a circuit breaker over an error budget.
 *
 * <p>{@code failuresInRow} timeouts or crashes without a verdict between them close it for {@code
 * restMillis}; then one verification is let through as a probe, which opens it again or closes it
 * for another rest. Immutable; times are milliseconds of a clock that never goes back.
 *
 * @param failuresInRow the budget
 * @param restMillis how long it stays closed
 * @param failures in a row so far
 * @param closedUntil when the next probe may pass; only read while the budget is spent
 * @param probing whether a probe is under way
 */
record VerifierQuarantine(
    int failuresInRow, long restMillis, int failures, long closedUntil, boolean probing) {
  static VerifierQuarantine none(int failuresInRow, long restMillis) {
    return new VerifierQuarantine(failuresInRow, restMillis, 0, 0, false);
  }

  /** Whether the budget is spent. */
  boolean closed() {
    return failures >= failuresInRow;
  }

  /** Whether a verification may start now. */
  boolean admits(long now) {
    return !closed() || (!probing && now >= closedUntil);
  }

  /** A verification that was admitted starts. */
  VerifierQuarantine started() {
    return closed()
        ? new VerifierQuarantine(failuresInRow, restMillis, failures, closedUntil, true)
        : this;
  }

  /** A verification ended with a verdict about the completion or the prompt. */
  VerifierQuarantine judged() {
    return failures == 0 ? this : none(failuresInRow, restMillis);
  }

  /** A verification ended without a verdict that counts. */
  VerifierQuarantine abandoned() {
    return probing
        ? new VerifierQuarantine(failuresInRow, restMillis, failures, closedUntil, false)
        : this;
  }

  /** A verification timed out or crashed. */
  VerifierQuarantine failed(long now) {
    int more = Math.min(failures + 1, failuresInRow);
    return new VerifierQuarantine(
        failuresInRow, restMillis, more, more >= failuresInRow ? now + restMillis : 0, false);
  }
}
