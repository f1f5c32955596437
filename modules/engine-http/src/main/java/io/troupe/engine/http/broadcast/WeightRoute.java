package io.troupe.engine.http.broadcast;

/** The route by which inference servers get merged weights. */
public enum WeightRoute {
  /** A folder that the server reads. */
  FILES,
  /** Broadcasts from this process's GPU to the server's workers. */
  NCCL
}
