package io.troupe.core.run;

/**
 * The coordinator's knowledge of a rollout worker. A worker that is gone is known for as long as
 * leases of it are left.
 *
 * @param asked groups it has asked for since it started
 * @param granted groups it has been granted since it started
 * @param leases groups it holds
 * @param present whether it is there
 */
public record Worker(long asked, long granted, long leases, boolean present) {
  /** A worker before its first message. */
  static final Worker UNKNOWN = new Worker(0, 0, 0, true);

  /** Returns the number of groups that the worker would take now. */
  public long demand() {
    return present ? Math.max(0, asked - granted) : 0;
  }

  /** Whether nothing is left to know of it. */
  boolean over() {
    return !present && leases == 0;
  }

  Worker withDemand(long total) {
    return new Worker(Math.max(asked, total), granted, leases, true);
  }

  Worker withGrant() {
    return new Worker(asked, granted + 1, leases + 1, present);
  }

  Worker withLeaseEnded() {
    return new Worker(asked, granted, leases - 1, present);
  }

  Worker markedAbsent() {
    return new Worker(asked, granted, leases, false);
  }
}
