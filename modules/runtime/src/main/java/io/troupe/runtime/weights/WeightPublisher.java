package io.troupe.runtime.weights;

import io.troupe.engine.weights.WeightSnapshot;
import java.util.concurrent.CompletionStage;

/** The store into which the coordinator of a run puts new weights, so that workers find them. */
@FunctionalInterface
public interface WeightPublisher {
  /**
   * Makes weights available. Returns at once; not called again before the stage completes.
   *
   * @return the published weights, once they are whole
   */
  CompletionStage<PublishedWeights> publish(WeightSnapshot weights);
}
