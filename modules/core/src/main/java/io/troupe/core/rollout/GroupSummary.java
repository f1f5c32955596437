package io.troupe.core.rollout;

import static io.troupe.core.Require.require;

import io.troupe.core.weights.WeightVersion;
import java.util.Collections;
import java.util.List;

/**
 * What the coordinator needs to know of a scored group: numbers only. The tokens travel once, from
 * worker to trainer.
 *
 * @param lease under which it was produced
 * @param rewards one a completion
 * @param versions one a completion: how many tokens each version sampled
 * @param episodes one a completion: its turns and how it ended
 */
public record GroupSummary(
    LeaseId lease,
    List<Double> rewards,
    List<TokenVersions> versions,
    List<EpisodeSummary> episodes) {
  /** A reward of so much is a full one: weighted sums of verifiers may miss 1 by a rounding. */
  public static final double PERFECT = 1 - 1e-6;

  public GroupSummary {
    rewards = List.copyOf(rewards);
    versions = List.copyOf(versions);
    episodes = List.copyOf(episodes);
    require(!rewards.isEmpty(), "%s has no completion", lease);
    require(
        rewards.size() == versions.size(),
        "%s has %d rewards for %d completions",
        lease,
        rewards.size(),
        versions.size());
    require(
        rewards.size() == episodes.size(),
        "%s has %d rewards for %d episodes",
        lease,
        rewards.size(),
        episodes.size());
    for (int i = 0; i < episodes.size(); i++) {
      int turns = episodes.get(i).turns();
      if (turns > 1 && turns > versions.get(i).tokens()) {
        throw new IllegalArgumentException(
            "%s has an episode of %d turns and %d tokens, and every turn has a token"
                .formatted(lease, turns, versions.get(i).tokens()));
      }
    }
  }

  /** A group of answers in one turn each. */
  public GroupSummary(LeaseId lease, List<Double> rewards, List<TokenVersions> versions) {
    this(lease, rewards, versions, Collections.nCopies(versions.size(), EpisodeSummary.ANSWER));
  }

  /** Whether every completion has the full reward. */
  public boolean perfect() {
    return rewards.stream().allMatch(reward -> reward >= PERFECT);
  }

  /** The version of the oldest token. */
  public WeightVersion oldest() {
    WeightVersion oldest = versions.getFirst().oldest();
    for (TokenVersions completion : versions) {
      oldest = completion.oldest().compareTo(oldest) < 0 ? completion.oldest() : oldest;
    }
    return oldest;
  }

  /** The version of the newest token. */
  public WeightVersion newest() {
    WeightVersion newest = versions.getFirst().newest();
    for (TokenVersions completion : versions) {
      newest = completion.newest().compareTo(newest) > 0 ? completion.newest() : newest;
    }
    return newest;
  }

  /** The number of tokens of all completions. */
  public long tokens() {
    return versions.stream().mapToLong(TokenVersions::tokens).sum();
  }
}
