package io.troupe.verifiers;

/** The end of a verification that takes too long: no thread waits for code that may not return. */
public enum Isolation {
  /**
   * The verifier's time is linear in the completion's length by construction, so that it runs on a
   * plain thread.
   */
  LINEAR,
  /** The verifier runs in its own process, which is killed at the deadline. */
  PROCESS,
  /**
   * The verifier keeps deadlines itself: it waits only for processes or requests that it can end.
   */
  SELF
}
