package io.troupe.core.rollout;

import static io.troupe.core.Require.require;

import java.util.List;

/**
 * A group with its tokens and rewards, on its one way from worker to trainer.
 *
 * @param prompt token ids, shared by all completions; handed over, not copied
 * @param completions G of them
 * @param rewards one a completion, in [0, 1]
 */
@SuppressWarnings("ArrayRecordComponent") // carried, never compared
public record ScoredGroup(
    LeaseId lease, int[] prompt, List<Completion> completions, List<Double> rewards) {
  public ScoredGroup {
    completions = List.copyOf(completions);
    rewards = List.copyOf(rewards);
    require(
        completions.size() == rewards.size(),
        "%s has %d rewards for %d completions",
        lease,
        rewards.size(),
        completions.size());
  }

  /** The numbers without the tokens. */
  public GroupSummary summary() {
    return new GroupSummary(
        lease, rewards, completions.stream().map(Completion::versions).toList());
  }
}
