package io.troupe.engine;

import io.troupe.engine.weights.WeightSnapshot;

/** A scorer that gets its weights from this process; calls of several threads take turns. */
public interface ScoringEngine extends Scorer {
  /**
   * Loads weights. The snapshot must stay open until the call returns.
   *
   * @throws IllegalArgumentException if the weights are of another policy
   */
  void load(WeightSnapshot weights);
}
