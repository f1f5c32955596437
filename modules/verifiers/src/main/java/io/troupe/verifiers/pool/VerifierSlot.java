package io.troupe.verifiers.pool;

/**
 * One verifier of a pool: a process, or a thread of this process that calls the verifier.
 *
 * @param name unique among the verifiers of a JVM, such as {@code math-1}
 * @param verifier the pool's verifier
 * @param doing current state of the slot
 * @param judged completions that it has judged
 */
public record VerifierSlot(String name, String verifier, Doing doing, long judged) {
  /** The state of a verifier. */
  public enum Doing {
    /** The verifier waits for a completion. */
    IDLE,
    /** The verifier judges a completion. */
    JUDGING,
    /** An operator has taken the verifier out of service. */
    QUARANTINED
  }
}
