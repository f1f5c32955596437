package io.troupe.core.train;

import io.troupe.core.advantage.Advantages;
import io.troupe.core.buffer.StalenessBound;
import io.troupe.core.rollout.Completion;
import io.troupe.core.rollout.ScoredGroup;
import io.troupe.core.rollout.TokenVersions;
import io.troupe.core.weights.WeightVersion;
import java.util.ArrayList;
import java.util.List;

/**
 * What one step trains on: sequences with their advantages and loss weights, stale tokens at zero.
 *
 * @param sequences all completions of all groups, in order of groups
 * @param trainedTokens completion tokens with loss weight
 * @param maskedTokens completion tokens without, because they are stale
 * @param stalenessMax greatest staleness of a trained token
 * @param stalenessMean mean staleness of trained tokens
 */
public record TrainingBatch(
    List<TrainingSequence> sequences,
    long trainedTokens,
    long maskedTokens,
    long stalenessMax,
    double stalenessMean) {
  public TrainingBatch {
    sequences = List.copyOf(sequences);
  }

  /**
   * The batch of a step that starts from {@code from}. This is where invariant S1 holds or falls:
   * every token's flag comes from {@link StalenessBound#trainable} against that very version.
   */
  public static TrainingBatch of(
      List<ScoredGroup> groups, Objective objective, StalenessBound bound, WeightVersion from) {
    List<boolean[]> trainable = new ArrayList<>();
    long masked = 0;
    long trained = 0;
    long stalenessMax = 0;
    double stalenessSum = 0;
    for (ScoredGroup group : groups) {
      for (Completion completion : group.completions()) {
        trainable.add(bound.trainable(completion.versions(), from));
        for (TokenVersions.Span span : completion.versions().spans()) {
          long staleness = from.stalenessOf(span.version());
          if (staleness <= bound.maxStaleness()) {
            trained += span.tokens();
            stalenessMax = Math.max(stalenessMax, staleness);
            stalenessSum += (double) staleness * span.tokens();
          } else {
            masked += span.tokens();
          }
        }
      }
    }
    List<float[]> weights = LossWeights.of(objective, trainable);
    List<TrainingSequence> sequences = new ArrayList<>();
    for (ScoredGroup group : groups) {
      double[] advantages =
          Advantages.of(
              objective, group.rewards().stream().mapToDouble(Double::doubleValue).toArray());
      for (int i = 0; i < advantages.length; i++) {
        Completion completion = group.completions().get(i);
        sequences.add(
            new TrainingSequence(
                group.prompt(),
                completion.tokens(),
                completion.logProbs(),
                weights.get(sequences.size()),
                advantages[i]));
      }
    }
    return new TrainingBatch(
        sequences, trained, masked, stalenessMax, trained == 0 ? 0 : stalenessSum / trained);
  }
}
