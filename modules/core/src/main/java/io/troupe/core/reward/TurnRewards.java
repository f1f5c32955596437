package io.troupe.core.reward;

import java.util.List;
import java.util.Locale;

/**
 * The reward that an environment gives an episode: the sum of what it gave for the policy's calls,
 * no less than 0 and no more than 1. An episode that a limit ended has earned what it was given
 * until then.
 */
public final class TurnRewards {
  private TurnRewards() {}

  /** The sum as a verdict; unverifiable for an answer without turns, which nothing rewards. */
  public static Verdict of(EpisodeText episode) {
    if (episode.turns().isEmpty()) {
      return new Verdict.Unverifiable(
          Verdict.Cause.BAD_INPUT, "there is no turn that an environment could reward");
    }
    List<Double> rewards = episode.rewards();
    double sum = rewards.stream().mapToDouble(Double::doubleValue).sum();
    double reward = Math.clamp(sum, 0, 1);
    String reason =
        String.format(
            Locale.ROOT,
            "%.4g in %d of %d turns%s",
            sum,
            rewards.stream().filter(each -> each != 0).count(),
            rewards.size(),
            reward == sum ? "" : ", which counts as %.0f".formatted(reward));
    return new Verdict.Scored(reward, "", reason);
  }
}
