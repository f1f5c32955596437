package io.troupe.engine.http.probe;

import io.troupe.engine.PolicyEngines;
import io.troupe.engine.ScoringEngine;
import io.troupe.engine.weights.WeightSnapshot;
import java.util.List;

/** Scores tokens with the run's own engine, as the reference for a server's log-probabilities. */
@FunctionalInterface
public interface LocalScorer {
  /**
   * The log-probabilities of each sequence's tokens after the first, at temperature 1. Blocks.
   *
   * @param sequences of two tokens or more
   */
  List<double[]> of(WeightSnapshot weights, List<int[]> sequences);

  /** A scorer for servers whose weights are not compared with the policy's. */
  static LocalScorer unavailable() {
    return (_, _) -> {
      throw new UnsupportedOperationException("weights are not compared");
    };
  }

  /** Scores with an engine that exists during the call only, with its own copy of the weights. */
  static LocalScorer by(PolicyEngines engines) {
    return (weights, sequences) -> {
      try (ScoringEngine scorer = engines.newScorer()) {
        scorer.load(weights);
        return sequences.stream().map(tokens -> scorer.score(tokens, 0).logProbs()).toList();
      }
    };
  }
}
