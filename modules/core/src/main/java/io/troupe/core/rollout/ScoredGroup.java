package io.troupe.core.rollout;

import static io.troupe.core.Require.require;

import io.troupe.core.completion.Completion;
import io.troupe.core.completion.CompletionDigest;
import java.util.List;

/**
 * A group with its tokens and rewards, on its one way from worker to trainer.
 *
 * @param prompt token ids of the task's prompt, shared by all episodes that begin with it; handed
 *     over, not copied
 * @param episodes G of them
 * @param rewards one an episode, any finite number
 */
@SuppressWarnings("ArrayRecordComponent") // carried, never compared
public record ScoredGroup(
    LeaseId lease, int[] prompt, List<Episode> episodes, List<Double> rewards) {
  public ScoredGroup {
    episodes = List.copyOf(episodes);
    rewards = List.copyOf(rewards);
    require(
        episodes.size() == rewards.size(),
        "%s has %d rewards for %d completions",
        lease,
        rewards.size(),
        episodes.size());
  }

  /** A group of episodes of one turn each. */
  public static ScoredGroup ofCompletions(
      LeaseId lease, int[] prompt, List<Completion> completions, List<Double> rewards) {
    return new ScoredGroup(
        lease,
        prompt,
        completions.stream().map(completion -> Episode.of(prompt, completion)).toList(),
        rewards);
  }

  /** The rewards as an array of its own. */
  public double[] rewardArray() {
    return rewards.stream().mapToDouble(Double::doubleValue).toArray();
  }

  /** Returns all sampled completions: the turns of the first episode, of the second, and so on. */
  public List<Completion> completions() {
    return episodes.stream().flatMap(Episode::completions).toList();
  }

  /** The training sequences of all episodes, in order of episodes. */
  public List<EpisodeSequence> sequences() {
    return episodes.stream().flatMap(episode -> episode.sequences().stream()).toList();
  }

  /** The digest of everything that was sampled, as {@link CompletionDigest} makes them. */
  public List<String> digests() {
    return completions().stream().map(CompletionDigest::of).toList();
  }

  /** The numbers without the tokens. */
  public GroupSummary summary() {
    return new GroupSummary(
        lease,
        rewards,
        episodes.stream().map(Episode::versions).toList(),
        episodes.stream().map(Episode::summary).toList());
  }
}
