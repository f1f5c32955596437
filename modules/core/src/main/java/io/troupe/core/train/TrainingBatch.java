package io.troupe.core.train;

import io.troupe.core.advantage.Advantages;
import io.troupe.core.advantage.StepRewards;
import io.troupe.core.completion.FinishReason;
import io.troupe.core.loss.LossSettings;
import io.troupe.core.loss.LossWeights;
import io.troupe.core.loss.TrainingSequence;
import io.troupe.core.rollout.Episode;
import io.troupe.core.rollout.ScoredGroup;
import io.troupe.core.rollout.StalenessBound;
import io.troupe.core.weights.WeightVersion;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * The sequences of one step with their advantages and loss weights, stale tokens at zero.
 *
 * <p>Episodes have the weights that completions have: what {@link LossWeights} says of a sequence
 * holds for all sequences of an episode together, so it changes nothing how many sequences its
 * turns make. The advantage is the episode's.
 *
 * @param sequences all sequences of all episodes of all groups, in order of groups
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
    int episodes = groups.stream().mapToInt(group -> group.episodes().size()).sum();
    return of(
        groups,
        StepRewards.of(groups.stream().map(ScoredGroup::rewardArray).toList()),
        Collections.nCopies(episodes, true),
        loss,
        bound,
        from);
  }

  /**
   * Makes a batch by other rewards, and with the episodes that a teacher can judge. Where the loss
   * is a distillation alone, a completion that no teacher can judge has no loss weight.
   *
   * @param rewards of the groups' episodes
   * @param taught an element an episode of all groups, in order; not read without a distillation
   */
  public static TrainingBatch of(
      List<ScoredGroup> groups,
      StepRewards rewards,
      List<Boolean> taught,
      LossSettings loss,
      StalenessBound bound,
      WeightVersion from) {
    List<EpisodeTokens> episodes = new ArrayList<>();
    for (ScoredGroup group : groups) {
      for (int i = 0; i < group.episodes().size(); i++) {
        Episode episode = group.episodes().get(i);
        boolean silent = loss.distilsAlone() && !taught.get(episodes.size());
        boolean teaches =
            !silent
                && !(loss.overlong().masked() && truncated(episode))
                && loss.shares().distillation().learnsFrom(group.rewards().get(i));
        episodes.add(EpisodeTokens.of(episode, teaches, bound, from));
      }
    }
    List<boolean[]> trainable = episodes.stream().map(EpisodeTokens::trainable).toList();
    List<float[]> weights = LossWeights.of(loss.objective(), trainable);
    double teacherWeight =
        loss.distils() ? LossWeights.distillationScale(loss.objective(), trainable, taught) : 1;
    List<TrainingSequence> sequences = new ArrayList<>();
    List<double[]> ofGroups =
        Advantages.of(
            loss.baseline(), rewards, groups.stream().map(TrainingBatch::lengths).toList());
    int episode = 0;
    for (double[] advantages : ofGroups) {
      for (double advantage : advantages) {
        boolean speaks = !loss.distils() || taught.get(episode);
        sequences.addAll(
            episodes
                .get(episode)
                .sequences(weights.get(episode), advantage, speaks ? teacherWeight : 0, from));
        episode++;
      }
    }
    long trained = episodes.stream().mapToLong(EpisodeTokens::trained).sum();
    return new TrainingBatch(
        sequences,
        trained,
        episodes.stream().mapToLong(EpisodeTokens::masked).sum(),
        episodes.stream().mapToLong(EpisodeTokens::discarded).sum(),
        episodes.stream().mapToLong(EpisodeTokens::stalenessMax).max().orElse(0),
        trained == 0
            ? 0
            : (double) episodes.stream().mapToLong(EpisodeTokens::stalenessSum).sum() / trained);
  }

  /** Sampled tokens of each episode. */
  private static int[] lengths(ScoredGroup group) {
    return group.episodes().stream().mapToInt(Episode::sampledTokens).toArray();
  }

  /** Whether the token limit cut the episode's last answer off. */
  private static boolean truncated(Episode episode) {
    return episode.turns().getLast().completion().finishReason() == FinishReason.LENGTH;
  }
}
