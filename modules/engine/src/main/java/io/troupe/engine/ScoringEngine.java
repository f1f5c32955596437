package io.troupe.engine;

import io.troupe.engine.weights.WeightSnapshot;

/** A scorer whose weights this process gives it; calls of several threads take turns. */
public interface ScoringEngine extends Scorer {
  /**
   * Moves to weights. The snapshot must stay open until it returns.
   *
   * @throws IllegalArgumentException if they are of another policy
   */
  void load(WeightSnapshot weights);
}
