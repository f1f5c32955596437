package io.troupe.engine.http;

/** A step of an update. */
public enum UpdateStep {
  /** Hold requests in flight; drop cached keys and values. */
  PAUSE,
  /** Read the weights. Never done twice: what failed may be half done. */
  READ,
  /** Tell the name of the weights. */
  NAME,
  /** Ask for the name of the weights, and compare. */
  CONFIRM,
  /** Go on. */
  RESUME,
  /** Draw a token, and check it. */
  TRY;

  /** Whether doing it again does no harm. */
  boolean repeatable() {
    return this != READ;
  }
}
