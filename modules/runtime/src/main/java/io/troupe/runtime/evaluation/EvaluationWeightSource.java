package io.troupe.runtime.evaluation;

import io.troupe.engine.weights.WeightSnapshot;
import java.util.concurrent.CompletionStage;

/** The source of an evaluation's weights for a worker. */
@FunctionalInterface
public interface EvaluationWeightSource {
  /**
   * Fetches weights. Returns at once.
   *
   * @return the weights, of the version and digest that are wanted; fails with {@link
   *     UnfitWeightsException} if this worker cannot have them
   */
  CompletionStage<WeightSnapshot> fetch(EvaluatedWeights wanted);
}
