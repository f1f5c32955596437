package io.troupe.core.reward;

import java.util.List;
import java.util.Locale;

/**
 * The reward that an environment gives an episode: the sum of what it gave for the policy's calls.
 * An episode that a limit ended has earned what it was given until then.
 */
public final class TurnRewards {
  private TurnRewards() {}

  /**
   * The sum as a verdict; unverifiable for an answer without turns, which nothing rewards, and for
   * a sum that is no finite number.
   */
  public static Verdict of(EpisodeText episode) {
    if (episode.turns().isEmpty()) {
      return new Verdict.Unverifiable(
          Verdict.Cause.BAD_INPUT, "there is no turn that an environment could reward");
    }
    List<Double> rewards = episode.rewards();
    double sum = rewards.stream().mapToDouble(Double::doubleValue).sum();
    if (!Double.isFinite(sum)) {
      return new Verdict.Unverifiable(
          Verdict.Cause.CRASH,
          "the environment's rewards of %d turns add up to %s, which is no finite number"
              .formatted(rewards.size(), sum));
    }
    String reason =
        String.format(
            Locale.ROOT,
            "%.4g in %d of %d turns",
            sum,
            rewards.stream().filter(each -> each != 0).count(),
            rewards.size());
    return new Verdict.Scored(sum, "", reason);
  }
}
