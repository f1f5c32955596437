package io.troupe.engine.http.replica;

/**
 * The distance to expect between the log-probabilities of a server and of the run's policy, in nats
 * on average over the tokens. How a server computes does not change with its weights, so that the
 * smallest distance so far bounds those to come: a server that does not use all of its new weights
 * is farther away after the first step, by much less than half precision may take.
 *
 * @param first most nats as long as nothing was measured
 * @param smallest smallest distance so far
 */
record WeightDistance(double first, double smallest) {
  /** Chance differs from one prompt to the next. */
  private static final double FACTOR = 4;

  private static final double LEAST = 0.001;

  /** Before anything was measured. */
  static WeightDistance unmeasured(double first) {
    return new WeightDistance(first, Double.POSITIVE_INFINITY);
  }

  /** Returns the largest distance of a server that has the policy's weights. */
  double tolerance() {
    return Math.min(first, FACTOR * smallest + LEAST);
  }

  WeightDistance measured(double distance) {
    return new WeightDistance(first, Math.min(smallest, distance));
  }
}
