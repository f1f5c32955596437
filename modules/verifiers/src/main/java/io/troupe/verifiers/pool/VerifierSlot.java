package io.troupe.verifiers.pool;

/**
 * A verifier of a pool: a process, or a thread that calls the verifier in this one.
 *
 * @param name unique among the verifiers of a JVM, such as {@code math-1}
 * @param verifier whose pool
 * @param doing what it is at
 * @param judged completions it has judged
 */
public record VerifierSlot(String name, String verifier, Doing doing, long judged) {
  /** What a verifier is at. */
  public enum Doing {
    /** It waits for a completion. */
    IDLE,
    /** It judges one. */
    JUDGING,
    /** It gets none: an operator ordered so. */
    QUARANTINED
  }
}
