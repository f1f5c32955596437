package io.troupe.telemetry.view;

/**
 * The counts of groups by their end: invariant S2 as a sum that anybody can check.
 *
 * <pre>
 *   granted  = trained + filtered + skipped + stale + expired + lost + failures + outages + cancelled
 *              + leased + buffered + training
 *   admitted = trained + filtered + skipped + failed + waiting + leased + buffered + training
 * </pre>
 *
 * {@code reused} is in no sum: uses of the trained groups beyond the first of each.
 *
 * @see io.troupe.core.run.Ledger
 */
public record GroupAccounting(
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
    long waiting,
    long leased,
    long buffered,
    long training,
    long reused) {
  /** Whether both sums hold. */
  public boolean balanced() {
    long held = leased + buffered + training;
    long ended = trained + filtered + skipped;
    return granted == ended + stale + expired + lost + failures + outages + cancelled + held
        && admitted == ended + failed + waiting + held;
  }
}
