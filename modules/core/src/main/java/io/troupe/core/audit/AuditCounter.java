package io.troupe.core.audit;

import java.util.List;

/** A line of an audit's books: something groups or leases did, counted. */
public enum AuditCounter {
  ADMITTED,
  TRAINED,
  FILTERED,
  SKIPPED,
  FAILED,
  GRANTED,
  STALE,
  EXPIRED,
  LOST,
  BROKEN,
  OUTAGES,
  CANCELLED,
  REFUSED,
  REUSED;

  /** Ways a group ends for good. */
  static final List<AuditCounter> GROUP_ENDS = List.of(TRAINED, FILTERED, SKIPPED, FAILED);

  /** Ways a lease ends. */
  static final List<AuditCounter> LEASE_ENDS =
      List.of(TRAINED, FILTERED, SKIPPED, STALE, EXPIRED, LOST, BROKEN, OUTAGES, CANCELLED);
}
