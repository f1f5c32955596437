package io.troupe.core.audit;

import java.util.List;

/** A line of an audit's books: something groups or leases did, counted. */
public enum Entry {
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
  REFUSED;

  /** Ways a group ends for good. */
  static final List<Entry> GROUP_ENDS = List.of(TRAINED, FILTERED, SKIPPED, FAILED);

  /** Ways a lease ends. */
  static final List<Entry> LEASE_ENDS =
      List.of(TRAINED, FILTERED, SKIPPED, STALE, EXPIRED, LOST, BROKEN, OUTAGES, CANCELLED);
}
