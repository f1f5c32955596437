package io.troupe.core.train;

import io.troupe.core.completion.FinishReason;
import io.troupe.core.reward.PassMark;
import io.troupe.core.rollout.Episode;
import io.troupe.core.rollout.ScoredGroup;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * The ends of a step's completions, and the relation of their rewards to their lengths. Every
 * completion of every group counts once, whatever its loss weight; an episode counts as one, by the
 * end of its last turn and the sampled tokens of all turns. A number of nothing is not a number.
 *
 * @param reward mean task reward
 * @param stopShare share that ended with a stop token
 * @param stopStringShare share that ended with a stop string
 * @param truncatedShare share that the token limit cut off
 * @param rewardLengthCorrelation Pearson's correlation of task reward and length in tokens; not a
 *     number where either is the same for all
 * @param lengthRight mean length of those that pass, in tokens
 * @param lengthWrong mean length of the others
 */
public record CompletionStatistics(
    double reward,
    double stopShare,
    double stopStringShare,
    double truncatedShare,
    double rewardLengthCorrelation,
    double lengthRight,
    double lengthWrong) {
  private record One(double reward, double length, FinishReason reason) {}

  /**
   * The statistics of a step's groups.
   *
   * @param mark by which a completion passes
   */
  public static CompletionStatistics of(List<ScoredGroup> groups, PassMark mark) {
    List<One> all = new ArrayList<>();
    for (ScoredGroup group : groups) {
      for (int i = 0; i < group.episodes().size(); i++) {
        Episode episode = group.episodes().get(i);
        all.add(
            new One(
                group.rewards().get(i),
                episode.sampledTokens(),
                episode.turns().getLast().completion().finishReason()));
      }
    }
    return new CompletionStatistics(
        all.stream().mapToDouble(One::reward).average().orElse(Double.NaN),
        share(all, FinishReason.STOP),
        share(all, FinishReason.STOP_STRING),
        share(all, FinishReason.LENGTH),
        correlation(all),
        length(all, one -> mark.passes(one.reward)),
        length(all, one -> !mark.passes(one.reward)));
  }

  private static double share(List<One> all, FinishReason reason) {
    return all.stream().mapToInt(one -> one.reason == reason ? 1 : 0).average().orElse(Double.NaN);
  }

  private static double length(List<One> all, Predicate<One> which) {
    return all.stream().filter(which).mapToDouble(One::length).average().orElse(Double.NaN);
  }

  private static double correlation(List<One> all) {
    double reward = all.stream().mapToDouble(One::reward).average().orElse(Double.NaN);
    double length = all.stream().mapToDouble(One::length).average().orElse(Double.NaN);
    double both = 0;
    double rewards = 0;
    double lengths = 0;
    for (One one : all) {
      both += (one.reward - reward) * (one.length - length);
      rewards += (one.reward - reward) * (one.reward - reward);
      lengths += (one.length - length) * (one.length - length);
    }
    return both / Math.sqrt(rewards * lengths);
  }
}
