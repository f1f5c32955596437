package io.troupe.core.train;

import io.troupe.core.advantage.Advantages;
import io.troupe.core.loss.LossSettings;
import io.troupe.core.loss.LossWeights;
import io.troupe.core.loss.TrainingSequence;
import io.troupe.core.rollout.Completion;
import io.troupe.core.rollout.FinishReason;
import io.troupe.core.rollout.ScoredGroup;
import io.troupe.core.rollout.StalenessBound;
import io.troupe.core.rollout.TokenVersions;
import io.troupe.core.weights.WeightVersion;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * What one step trains on: sequences with their advantages and loss weights, stale tokens at zero.
 *
 * @param sequences all completions of all groups, in order of groups
 * @param trainedTokens completion tokens with loss weight
 * @param maskedTokens completion tokens without, because they are stale
 * @param discardedTokens completion tokens without, because there is nothing to learn from their
 *     completions: {@link io.troupe.core.loss.Distillation#learnsFrom}, because nothing but a
 *     teacher would teach and it cannot speak of them, or because the loss leaves out what the
 *     token limit cut off
 * @param stalenessMax greatest staleness of a trained token
 * @param stalenessMean mean staleness of trained tokens
 */
public record TrainingBatch(
    List<TrainingSequence> sequences,
    long trainedTokens,
    long maskedTokens,
    long discardedTokens,
    long stalenessMax,
    double stalenessMean) {
  public TrainingBatch {
    sequences = List.copyOf(sequences);
  }

  /**
   * The batch of a step that starts from {@code from}, by the rewards the groups came with. This is
   * where invariant S1 holds or falls: every token's flag comes from {@link
   * StalenessBound#trainable} against that very version.
   */
  public static TrainingBatch of(
      List<ScoredGroup> groups, LossSettings loss, StalenessBound bound, WeightVersion from) {
    int completions = groups.stream().mapToInt(group -> group.completions().size()).sum();
    return of(
        groups,
        groups.stream().map(TrainingBatch::rewards).toList(),
        Collections.nCopies(completions, true),
        loss,
        bound,
        from);
  }

  /**
   * The same by other rewards, and with what a teacher can speak of. Where there is nothing but a
   * distillation, a completion that it cannot speak of has no loss weight.
   *
   * @param rewards an array a group, an element a completion
   * @param taught an element a completion of all groups, in order; not read without a distillation
   */
  public static TrainingBatch of(
      List<ScoredGroup> groups,
      List<double[]> rewards,
      List<Boolean> taught,
      LossSettings loss,
      StalenessBound bound,
      WeightVersion from) {
    List<boolean[]> trainable = new ArrayList<>();
    long masked = 0;
    long trained = 0;
    long discarded = 0;
    long stalenessMax = 0;
    double stalenessSum = 0;
    for (ScoredGroup group : groups) {
      for (int i = 0; i < group.completions().size(); i++) {
        Completion completion = group.completions().get(i);
        boolean silent = loss.distilsAlone() && !taught.get(trainable.size());
        boolean cut = loss.masksTruncated() && completion.finishReason() == FinishReason.LENGTH;
        if (silent || cut || !loss.distillation().learnsFrom(group.rewards().get(i))) {
          trainable.add(new boolean[completion.length()]);
          discarded += completion.length();
          continue;
        }
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
    List<float[]> weights = LossWeights.of(loss.objective(), trainable);
    double teacherWeight =
        loss.distils() ? LossWeights.distillationScale(loss.objective(), trainable, taught) : 1;
    List<TrainingSequence> sequences = new ArrayList<>();
    for (int g = 0; g < groups.size(); g++) {
      ScoredGroup group = groups.get(g);
      double[] advantages = Advantages.of(loss.baseline(), rewards.get(g));
      for (int i = 0; i < advantages.length; i++) {
        Completion completion = group.completions().get(i);
        boolean speaks = !loss.distils() || taught.get(sequences.size());
        sequences.add(
            new TrainingSequence(
                    group.prompt(),
                    completion.tokens(),
                    completion.logProbs(),
                    weights.get(sequences.size()),
                    advantages[i])
                .sampledBehind(staleness(completion, from))
                .withTeacherWeight(speaks ? teacherWeight : 0));
      }
    }
    return new TrainingBatch(
        sequences,
        trained,
        masked,
        discarded,
        stalenessMax,
        trained == 0 ? 0 : stalenessSum / trained);
  }

  private static double[] rewards(ScoredGroup group) {
    return group.rewards().stream().mapToDouble(Double::doubleValue).toArray();
  }

  private static int[] staleness(Completion completion, WeightVersion from) {
    int[] staleness = new int[completion.length()];
    int t = 0;
    for (TokenVersions.Span span : completion.versions().spans()) {
      int end = t + span.tokens();
      Arrays.fill(staleness, t, end, Math.toIntExact(from.stalenessOf(span.version())));
      t = end;
    }
    return staleness;
  }
}
