package io.troupe.core.run.group;

import java.util.Locale;

/** The reason why a lease ended without an accepted answer. */
public enum LeaseEndReason {
  /** The worker took longer to sample than the lease lasts. */
  EXPIRED,
  /** The worker is gone. */
  WORKER_LOST,
  /** The prompt or one of its completions could not be done. */
  FAILED,
  /** The engine, a server or the weights behind it failed. */
  ENGINE_FAILED,
  /** The agent program of an episode, or the environment of its tools, failed. */
  ENVIRONMENT_FAILED,
  /** No verifier was available to judge the completions. */
  VERIFIER_AWAY,
  /** The completions are already too stale to train on. */
  STALE,
  /** The run drains, ends, or was resumed; or an operator took the group away. */
  CANCELLED;

  /** Returns the name of the reason in files and on screens. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * Whether such an end may count as a failure of the prompt; the state decides whether it does.
   */
  public boolean chargeable() {
    return switch (this) {
      case EXPIRED, WORKER_LOST, FAILED, ENGINE_FAILED, ENVIRONMENT_FAILED -> true;
      case VERIFIER_AWAY, STALE, CANCELLED -> false;
    };
  }

  /** Whether such an end is a failure of the place that had the lease, which a breaker counts. */
  public boolean speaksAgainstPlace() {
    return switch (this) {
      case EXPIRED, ENGINE_FAILED, ENVIRONMENT_FAILED -> true;
      case WORKER_LOST, FAILED, VERIFIER_AWAY, STALE, CANCELLED -> false;
    };
  }
}
