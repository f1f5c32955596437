package io.troupe.sim.model;

import static io.troupe.core.Require.require;

import io.troupe.sim.model.KeyedRandom.Purpose;
import java.util.ArrayList;
import java.util.List;

/**
 * The workload: lengths and rewards of groups, and the length of their prompts.
 *
 * @param promptTokens mean length of a prompt
 * @param degenerateShare share of groups whose rewards are all equal; unused where the lengths are
 *     measured groups, which bring their rewards
 * @param meanReward of a completion, likewise
 */
public record Workload(
    LengthModel lengths, double promptTokens, double degenerateShare, double meanReward) {
  public Workload {
    require(promptTokens >= 1, "workload.prompt_tokens is 1 or more, not %s", promptTokens);
    require(
        degenerateShare >= 0 && degenerateShare <= 1 && meanReward >= 0 && meanReward <= 1,
        "workload.degenerate_share and workload.mean_reward lie in [0, 1], not %s and %s",
        degenerateShare,
        meanReward);
  }

  /** The completions of a group. */
  public GroupDraw draw(GroupKey key, int completions, int cap) {
    int[] drawn = lengths.lengths(key, completions, cap);
    if (lengths instanceof LengthModel.Empirical measured) {
      LengthModel.MeasuredGroup group = measured.at(key);
      List<Double> rewards = new ArrayList<>(completions);
      for (int i = 0; i < completions; i++) {
        rewards.add(group.rewards().get(measured.member(key, group, i)));
      }
      return new GroupDraw(drawn, rewards);
    }
    return new GroupDraw(drawn, rewards(key, completions));
  }

  private List<Double> rewards(GroupKey key, int completions) {
    List<Double> rewards = new ArrayList<>(completions);
    boolean degenerate = uniform(key, -1) < degenerateShare;
    double same = uniform(key, -2) < meanReward ? 1.0 : 0.0;
    int right = 0;
    for (int i = 0; i < completions; i++) {
      double reward = degenerate ? same : uniform(key, i) < meanReward ? 1.0 : 0.0;
      right += reward > 0 ? 1 : 0;
      rewards.add(reward);
    }
    if (!degenerate && (right == 0 || right == completions)) {
      rewards.set(0, right == 0 ? 1.0 : 0.0);
    }
    return rewards;
  }

  private static double uniform(GroupKey key, long index) {
    return KeyedRandom.uniform(key.seed(), Purpose.REWARD, key.draw(), index);
  }
}
