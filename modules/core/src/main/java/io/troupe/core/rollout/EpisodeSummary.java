package io.troupe.core.rollout;

import static io.troupe.core.Require.require;

/**
 * The journal's record of an episode beside its reward and its tokens' versions.
 *
 * @param turns answers of the policy, 1 or more
 * @param sequences training sequences that they make, from 1 to {@code turns}
 * @param toolCalls calls of tools that were carried out
 * @param toolMillis time in which at least one tool ran
 * @param sampleMillis time in which the policy was asked for at least one turn
 * @param millis from the first request to the last answer or result; 0, as the two before, where no
 *     times are kept
 */
public record EpisodeSummary(
    int turns,
    int sequences,
    StopReason stop,
    int toolCalls,
    long toolMillis,
    long sampleMillis,
    long millis) {
  /** An answer in one turn that the policy ended itself. */
  public static final EpisodeSummary ANSWER =
      new EpisodeSummary(1, 1, StopReason.COMPLETED, 0, 0, 0, 0);

  public EpisodeSummary {
    require(turns >= 1, "an episode has at least one turn, not %d", turns);
    require(
        sequences >= 1 && sequences <= turns,
        "an episode of %d turns makes from 1 to as many sequences, not %d",
        turns,
        sequences);
    require(
        toolCalls >= 0 && toolMillis >= 0 && sampleMillis >= 0 && millis >= 0,
        "calls of tools and times are 0 or more");
  }

  /**
   * Whether the episode is more than one answer without tools; times of such an answer are not
   * kept.
   */
  public boolean hasTurns() {
    return turns > 1 || toolCalls > 0 || millis > 0;
  }
}
