package io.troupe.verifiers.pool;

/**
 * The circuit breaker of a verifier: it keeps completions from a verifier that only fails.
 *
 * <p>{@code failuresInRow} timeouts or crashes without a verdict between them spend the error
 * budget and stop verifications for {@code restMillis}. Then one verification passes as a probe,
 * and its outcome ends the quarantine or extends it by another rest. Immutable; times are
 * milliseconds of a monotonic clock.
 *
 * @param failuresInRow the error budget
 * @param restMillis the length of a quarantine
 * @param failures failures in a row so far
 * @param closedUntil time at which the next probe may pass; only read while the budget is spent
 * @param probing whether a probe is running
 */
record VerifierQuarantine(
    int failuresInRow, long restMillis, int failures, long closedUntil, boolean probing) {
  static VerifierQuarantine none(int failuresInRow, long restMillis) {
    return new VerifierQuarantine(failuresInRow, restMillis, 0, 0, false);
  }

  /** Whether the error budget is spent. */
  boolean closed() {
    return failures >= failuresInRow;
  }

  /** Whether a verification may start now. */
  boolean admits(long now) {
    return !closed() || (!probing && now >= closedUntil);
  }

  /** Records the start of an admitted verification. */
  VerifierQuarantine started() {
    return closed()
        ? new VerifierQuarantine(failuresInRow, restMillis, failures, closedUntil, true)
        : this;
  }

  /** Records a verdict about the completion or the prompt. */
  VerifierQuarantine judged() {
    return failures == 0 ? this : none(failuresInRow, restMillis);
  }

  /** Records a verification whose verdict does not count. */
  VerifierQuarantine abandoned() {
    return probing
        ? new VerifierQuarantine(failuresInRow, restMillis, failures, closedUntil, false)
        : this;
  }

  /** Records a timeout or a crash. */
  VerifierQuarantine failed(long now) {
    int more = Math.min(failures + 1, failuresInRow);
    return new VerifierQuarantine(
        failuresInRow, restMillis, more, more >= failuresInRow ? now + restMillis : 0, false);
  }
}
