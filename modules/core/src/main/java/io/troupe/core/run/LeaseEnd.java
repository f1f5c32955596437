package io.troupe.core.run;

/** Why a lease ended without an accepted answer. */
public enum LeaseEnd {
  /** The worker took longer than the lease lasts. */
  EXPIRED,
  /** The worker is gone. */
  WORKER_LOST,
  /** The engine or the verifier failed on it. */
  FAILED,
  /** What it would bring is already too stale. */
  STALE,
  /** The run drains, ends, or was resumed; or an operator took the group away. */
  CANCELLED
}
