package io.troupe.runtime.weights;

import io.troupe.engine.weights.WeightSnapshot;
import java.util.concurrent.CompletionStage;

/** The source from which a worker takes the weights that were announced to it. */
@FunctionalInterface
public interface WeightSource {
  /**
   * Fetches weights. Returns at once.
   *
   * @return the weights, whose version and digest are those published; fails when they are gone,
   *     because newer ones took their place, or are not what was published
   */
  CompletionStage<WeightSnapshot> fetch(PublishedWeights published);
}
