package io.troupe.telemetry.view;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import io.troupe.core.run.group.Ledger;

/**
 * The counts of groups by their end and by their stage: invariant S2 as a sum that a reader can
 * check.
 *
 * <pre>
 *   granted  = trained + filtered + skipped + stale + expired + lost + failures + outages + cancelled
 *              + leased + buffered + training
 *   admitted = trained + filtered + skipped + failed + waiting + leased + buffered + training
 * </pre>
 *
 * @param ledger groups and leases that ended, and all that began; as JSON its counts are beside the
 *     stages
 * @param waiting groups that wait for a lease
 * @param leased groups under lease
 * @param buffered groups that wait for a step
 * @param training groups of the running step
 */
public record GroupAccounting(
    @JsonUnwrapped Ledger ledger, long waiting, long leased, long buffered, long training) {
  /** Whether both sums hold. */
  public boolean balanced() {
    long held = leased + buffered + training;
    return ledger.granted() == ledger.endedLeases() + held
        && ledger.admitted() == ledger.endedGroups() + waiting + held;
  }
}
