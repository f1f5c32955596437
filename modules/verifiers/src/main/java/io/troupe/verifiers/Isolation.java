package io.troupe.verifiers;

/** What ends a verification that takes too long: nobody waits for code that may not return. */
public enum Isolation {
  /** Its time is linear in the completion's length, by construction: it runs on a plain thread. */
  LINEAR,
  /** It runs in a process of its own, which is killed when its time is up. */
  PROCESS,
  /** It keeps time itself: what it waits for are processes or requests that it ends. */
  SELF
}
