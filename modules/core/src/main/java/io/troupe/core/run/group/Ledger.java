package io.troupe.core.run.group;

/**
 * The counts of groups by their end, since the run began. Invariant S2 in numbers: at every moment,
 * with L groups under lease, F buffered and T in training, and W waiting,
 *
 * <pre>
 *   granted  = trained + filtered + skipped + stale + expired + lost + failures + outages + cancelled
 *              + L + F + T
 *   admitted = trained + filtered + skipped + failed + W + L + F + T
 * </pre>
 *
 * <p>A group may be trained by several steps, and ends once. The groups of all steps that moved the
 * weights are {@code trained + reused} and the uses so far of groups in F and T.
 *
 * @param admitted groups admitted
 * @param granted leases granted
 * @param trained groups that ended after one or more steps had trained on them
 * @param filtered groups put aside as degenerate
 * @param skipped groups of steps whose loss or gradient was not finite
 * @param failed groups given up after too many attempts
 * @param stale leases whose answer, or coming answer, was too stale; the group waits again
 * @param expired leases that ran out
 * @param lost leases whose worker was lost
 * @param failures leases whose prompt or completions could not be done
 * @param outages leases that an engine, an agent or an environment failed, or that no verifier was
 *     there for
 * @param cancelled leases ended by a drain, the end, a resume, or an operator
 * @param refused answers refused because their lease had ended; they are in no sum
 * @param reused uses of the trained groups beyond the first of each
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
    long outages,
    long cancelled,
    long refused,
    long reused) {
  /** The ledger before the first event. */
  public static final Ledger EMPTY = new Ledger(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);

  /** Leases that ended, one way or another. */
  public long endedLeases() {
    return trained + filtered + skipped + stale + expired + lost + failures + outages + cancelled;
  }

  /** Returns the number of groups that ended for good. */
  public long endedGroups() {
    return trained + filtered + skipped + failed;
  }

  /** Counts an admitted group. */
  public Ledger admit() {
    return plus(Account.ADMITTED, 1);
  }

  /** Counts a granted lease. */
  public Ledger grant() {
    return plus(Account.GRANTED, 1);
  }

  /** Ends groups as trained; {@code uses} is the sum of the uses of each. */
  public Ledger train(long groups, long uses) {
    return plus(Account.TRAINED, groups).plus(Account.REUSED, uses - groups);
  }

  /** Ends a group as filtered. */
  public Ledger filter() {
    return plus(Account.FILTERED, 1);
  }

  /** Ends groups of a skipped step. */
  public Ledger skip(long groups) {
    return plus(Account.SKIPPED, groups);
  }

  /** Ends a group as failed. */
  public Ledger giveUp() {
    return plus(Account.FAILED, 1);
  }

  /** Counts a refused answer. */
  public Ledger refuse() {
    return plus(Account.REFUSED, 1);
  }

  /** Counts a lease that ended without an accepted answer. */
  public Ledger end(LeaseEndReason reason) {
    return switch (reason) {
      case STALE -> plus(Account.STALE, 1);
      case EXPIRED -> plus(Account.EXPIRED, 1);
      case WORKER_LOST -> plus(Account.LOST, 1);
      case FAILED -> plus(Account.FAILURES, 1);
      case ENGINE_FAILED, ENVIRONMENT_FAILED, VERIFIER_AWAY -> plus(Account.OUTAGES, 1);
      case CANCELLED -> plus(Account.CANCELLED, 1);
    };
  }

  private enum Account {
    ADMITTED,
    GRANTED,
    TRAINED,
    FILTERED,
    SKIPPED,
    FAILED,
    STALE,
    EXPIRED,
    LOST,
    FAILURES,
    OUTAGES,
    CANCELLED,
    REFUSED,
    REUSED
  }

  private Ledger plus(Account account, long groups) {
    return new Ledger(
        admitted + (account == Account.ADMITTED ? groups : 0),
        granted + (account == Account.GRANTED ? groups : 0),
        trained + (account == Account.TRAINED ? groups : 0),
        filtered + (account == Account.FILTERED ? groups : 0),
        skipped + (account == Account.SKIPPED ? groups : 0),
        failed + (account == Account.FAILED ? groups : 0),
        stale + (account == Account.STALE ? groups : 0),
        expired + (account == Account.EXPIRED ? groups : 0),
        lost + (account == Account.LOST ? groups : 0),
        failures + (account == Account.FAILURES ? groups : 0),
        outages + (account == Account.OUTAGES ? groups : 0),
        cancelled + (account == Account.CANCELLED ? groups : 0),
        refused + (account == Account.REFUSED ? groups : 0),
        reused + (account == Account.REUSED ? groups : 0));
  }
}
