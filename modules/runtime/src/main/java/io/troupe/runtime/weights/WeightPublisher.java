package io.troupe.runtime.weights;

import io.troupe.engine.weights.WeightSnapshot;
import java.util.concurrent.CompletionStage;

/** Where the coordinator of a run puts new weights, so that workers find them. */
@FunctionalInterface
public interface WeightPublisher {
  /**
   * Makes weights available. Returns at once; not called again before the stage completes.
   *
   * @return where they are, once they are there whole
   */
  CompletionStage<PublishedWeights> publish(WeightSnapshot weights);
}
