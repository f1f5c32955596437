package io.troupe.core.run;

/** Why a lease ended without an accepted answer. */
public enum LeaseEndReason {
  /** The worker took longer to draw than the lease lasts. */
  EXPIRED,
  /** The worker is gone. */
  WORKER_LOST,
  /** The prompt or one of its completions could not be done. */
  FAILED,
  /** The engine, a server or the weights behind it failed. */
  ENGINE_FAILED,
  /** No verifier was there to judge what was drawn. */
  VERIFIER_AWAY,
  /** What it would bring is already too stale. */
  STALE,
  /** The run drains, ends, or was resumed; or an operator took the group away. */
  CANCELLED;

  /** Whether it may speak against the prompt; whether it does is for the moment to say. */
  boolean chargeable() {
    return switch (this) {
      case EXPIRED, WORKER_LOST, FAILED, ENGINE_FAILED -> true;
      case VERIFIER_AWAY, STALE, CANCELLED -> false;
    };
  }
}
