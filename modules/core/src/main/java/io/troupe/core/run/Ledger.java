package io.troupe.core.run;

/**
 * What became of everything, in groups, since the run began. Invariant S2 in numbers: at every
 * moment, with L groups under lease, F buffered and T in training, and W waiting,
 *
 * <pre>
 *   granted  = trained + filtered + skipped + stale + expired + lost + failures + cancelled + L + F + T
 *   admitted = trained + filtered + skipped + failed + W + L + F + T
 * </pre>
 *
 * @param admitted groups admitted
 * @param granted leases granted
 * @param trained groups trained
 * @param filtered groups put aside as degenerate
 * @param skipped groups of steps whose loss or gradient was not finite
 * @param failed groups given up after too many attempts
 * @param stale leases whose answer, or coming answer, was too stale; the group waits again
 * @param expired leases that ran out
 * @param lost leases whose worker was lost
 * @param failures leases that the engine or the verifier failed
 * @param cancelled leases ended by a drain, the end, or a resume
 * @param refused answers refused because their lease had ended; they stand in no sum
 */
public record Ledger(
    long admitted,
    long granted,
    long trained,
    long filtered,
    long skipped,
    long failed,
    long stale,
    long expired,
    long lost,
    long failures,
    long cancelled,
    long refused) {
  /** Nothing has happened. */
  public static final Ledger EMPTY = new Ledger(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);

  /** Leases that ended, one way or another. */
  public long endedLeases() {
    return trained + filtered + skipped + stale + expired + lost + failures + cancelled;
  }

  /** Groups that ended for good. */
  public long endedGroups() {
    return trained + filtered + skipped + failed;
  }

  Ledger admit() {
    return new Ledger(
        admitted + 1,
        granted,
        trained,
        filtered,
        skipped,
        failed,
        stale,
        expired,
        lost,
        failures,
        cancelled,
        refused);
  }

  Ledger grant() {
    return new Ledger(
        admitted,
        granted + 1,
        trained,
        filtered,
        skipped,
        failed,
        stale,
        expired,
        lost,
        failures,
        cancelled,
        refused);
  }

  Ledger train(long groups) {
    return new Ledger(
        admitted,
        granted,
        trained + groups,
        filtered,
        skipped,
        failed,
        stale,
        expired,
        lost,
        failures,
        cancelled,
        refused);
  }

  Ledger filter() {
    return new Ledger(
        admitted,
        granted,
        trained,
        filtered + 1,
        skipped,
        failed,
        stale,
        expired,
        lost,
        failures,
        cancelled,
        refused);
  }

  Ledger skip(long groups) {
    return new Ledger(
        admitted,
        granted,
        trained,
        filtered,
        skipped + groups,
        failed,
        stale,
        expired,
        lost,
        failures,
        cancelled,
        refused);
  }

  Ledger giveUp() {
    return new Ledger(
        admitted,
        granted,
        trained,
        filtered,
        skipped,
        failed + 1,
        stale,
        expired,
        lost,
        failures,
        cancelled,
        refused);
  }

  Ledger refuse() {
    return new Ledger(
        admitted,
        granted,
        trained,
        filtered,
        skipped,
        failed,
        stale,
        expired,
        lost,
        failures,
        cancelled,
        refused + 1);
  }

  Ledger end(LeaseEnd reason) {
    return new Ledger(
        admitted,
        granted,
        trained,
        filtered,
        skipped,
        failed,
        stale + (reason == LeaseEnd.STALE ? 1 : 0),
        expired + (reason == LeaseEnd.EXPIRED ? 1 : 0),
        lost + (reason == LeaseEnd.WORKER_LOST ? 1 : 0),
        failures + (reason == LeaseEnd.FAILED ? 1 : 0),
        cancelled + (reason == LeaseEnd.CANCELLED ? 1 : 0),
        refused);
  }
}
