package io.troupe.core.audit;

import io.troupe.core.prompt.PromptCursor;

/**
 * A moment of a run that a process may continue from, in the few numbers that distinguish it.
 *
 * @param leased groups under lease at that moment; a resume voids their leases
 * @param fingerprint of all pending groups
 */
record ResumePosition(
    long version,
    AuditCounters tally,
    PromptCursor cursor,
    long leased,
    long fingerprint,
    long record) {
  /** Whether {@code next} is this moment, with some of its leases cancelled. */
  boolean resumesAs(ResumePosition next) {
    AuditCounters voided = tally.copy();
    voided.add(AuditCounter.CANCELLED, leased - next.leased);
    return version == next.version
        && cursor.equals(next.cursor)
        && fingerprint == next.fingerprint
        && voided.same(next.tally);
  }
}
