package io.troupe.engine.http.probe;

/** A step of an update. */
public enum UpdateStep {
  /** Freeze requests in flight. With recomputation, drop their keys and values. */
  PAUSE,
  /** Wait until no request is in flight. New requests wait, or go to other servers. */
  DRAIN,
  /** Read the weights. This step is never repeated, because a failed one may be half done. */
  READ,
  /** Make a group of NCCL with the server's workers, unless there is one. */
  CONNECT,
  /** Send the weights to the workers by NCCL. This step is never repeated either. */
  BROADCAST,
  /** Load the adapters under their own name, beside all that the server has. */
  LOAD,
  /** Check that the server lists the new adapter, and still lists the one before it. */
  LIST,
  /** Stop the server, and start it with the weights. This step is never repeated either. */
  RESTART,
  /** Set the server's name for the weights. */
  NAME,
  /** Check the server's name for the weights. */
  CONFIRM,
  /** Continue the requests in flight. */
  RESUME,
  /** Sample a token, and check that the answer names these weights. */
  TRY,
  /** Check, once for each life of the server, that the run's checkpoint is under the adapters. */
  BASE,
  /** Check that the server samples with these merged weights, and not only reports their name. */
  COMPARE;

  /**
   * Whether the server's weights are unknown from the moment this step begins, or whether it may
   * hang after a failure of the step.
   */
  public boolean changesWeights() {
    return switch (this) {
      case READ, RESTART, CONNECT, BROADCAST -> true;
      case PAUSE, DRAIN, LOAD, LIST, NAME, CONFIRM, RESUME, TRY, BASE, COMPARE -> false;
    };
  }

  /** Whether the server takes weights in this step while it runs, and may keep a part of them. */
  public boolean loadsWeights() {
    return this == READ || this == BROADCAST;
  }

  /** Whether a failed step is worth repeating, and repeating it does no harm. */
  public boolean repeatable() {
    return !changesWeights() && this != BASE; // its answer would be the same
  }
}
