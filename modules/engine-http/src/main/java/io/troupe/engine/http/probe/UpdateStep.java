package io.troupe.engine.http.probe;

/** A step of an update. */
public enum UpdateStep {
  /** Hold requests in flight; drop their keys and values where they are to be computed again. */
  PAUSE,
  /** Wait until no request is in flight; new ones wait, or go elsewhere. */
  DRAIN,
  /** Read the weights. Never done twice: what failed may be half done. */
  READ,
  /** Load adapters under a name of their own, beside all that the server draws with. */
  LOAD,
  /** End the server, and start it with the weights. Never done twice either. */
  RESTART,
  /** Tell the name of the weights. */
  NAME,
  /** Ask for the name of the weights, and compare. */
  CONFIRM,
  /** Go on. */
  RESUME,
  /** Draw a token, and check it. */
  TRY,
  /** Compare what is drawn with adapters with what the run's own policy says of it. */
  COMPARE;

  /** Whether nobody knows, once it was begun, which weights the server has. */
  public boolean changesWeights() {
    return this == READ || this == RESTART;
  }

  /** Whether doing it again does no harm. */
  public boolean repeatable() {
    return !changesWeights() && this != COMPARE; // its answer would be the same
  }
}
