package io.troupe.core.train;

import io.troupe.core.loss.TrainingSequence;
import java.util.List;

/**
 * The completion tokens of a step by whether they move the weights, counted on the loss weights
 * that the engine gets, not on what should have made them.
 *
 * @param weighted tokens with loss weight
 * @param unweighted sampled tokens without
 * @param stalenessMax greatest staleness of a token with loss weight, in versions; 0 without any
 */
public record LossTokens(long weighted, long unweighted, long stalenessMax) {
  /** Counts the tokens of a batch. */
  public static LossTokens of(List<TrainingSequence> sequences) {
    long weighted = 0;
    long unweighted = 0;
    long stalenessMax = 0;
    for (TrainingSequence sequence : sequences) {
      float[] weights = sequence.lossWeights();
      for (int t = 0; t < weights.length; t++) {
        if (weights[t] == 0) {
          unweighted += sequence.isSampled(t) ? 1 : 0;
        } else {
          weighted++;
          stalenessMax = Math.max(stalenessMax, sequence.staleness()[t]);
        }
      }
    }
    return new LossTokens(weighted, unweighted, stalenessMax);
  }
}
