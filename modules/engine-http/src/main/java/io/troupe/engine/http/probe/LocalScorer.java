package io.troupe.engine.http.probe;

import io.troupe.engine.PolicyEngines;
import io.troupe.engine.ScoringEngine;
import io.troupe.engine.safetensors.TensorDigest;
import io.troupe.engine.weights.WeightSnapshot;
import java.util.List;

/** What the run's own engine says of tokens: what a server says of them is held against it. */
@FunctionalInterface
public interface LocalScorer {
  /**
   * The log-probabilities of each sequence's tokens after the first, at temperature 1. Blocks.
   *
   * @param sequences of two tokens or more
   */
  List<double[]> of(WeightSnapshot weights, List<int[]> sequences);

  /** The same by the weights without their adapters. */
  default List<double[]> ofBase(WeightSnapshot weights, List<int[]> sequences) {
    List<WeightSnapshot.Tensor> base = weights.adapter().extractedFrom(weights.tensors());
    return of(new WeightSnapshot(weights.version(), TensorDigest.of(base), base), sequences);
  }

  /** Where servers get merged weights, whose digest tells what they are. */
  static LocalScorer unavailable() {
    return (_, _) -> {
      throw new UnsupportedOperationException("merged weights are not compared");
    };
  }

  /** By a scorer that is there for the call only: one more copy of the weights meanwhile. */
  static LocalScorer by(PolicyEngines engines) {
    return (weights, sequences) -> {
      try (ScoringEngine scorer = engines.newScorer()) {
        scorer.load(weights);
        return sequences.stream().map(tokens -> scorer.score(tokens, 0).logProbs()).toList();
      }
    };
  }
}
