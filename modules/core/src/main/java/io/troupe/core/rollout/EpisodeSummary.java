package io.troupe.core.rollout;

import static io.troupe.core.Require.require;

/**
 * What the journal keeps of an episode beside its reward and its tokens' versions.
 *
 * @param turns answers of the policy, 1 or more
 * @param sequences training sequences that they make, from 1 to {@code turns}
 * @param toolCalls calls of tools that were carried out
 * @param toolMillis their times, added up; calls at the same time count apiece
 */
public record EpisodeSummary(
    int turns, int sequences, StopReason stop, int toolCalls, long toolMillis) {
  /** An answer in one turn that the policy ended itself. */
  public static final EpisodeSummary ANSWER = new EpisodeSummary(1, 1, StopReason.COMPLETED, 0, 0);

  public EpisodeSummary {
    require(turns >= 1, "an episode has at least one turn, not %d", turns);
    require(
        sequences >= 1 && sequences <= turns,
        "an episode of %d turns makes from 1 to as many sequences, not %d",
        turns,
        sequences);
    require(toolCalls >= 0 && toolMillis >= 0, "calls of tools and their time are 0 or more");
  }
}
