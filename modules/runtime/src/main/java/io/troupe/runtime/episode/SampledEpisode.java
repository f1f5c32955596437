package io.troupe.runtime.episode;

import io.troupe.core.rollout.Episode;
import io.troupe.core.rollout.StopReason;
import io.troupe.engine.Tokenizer;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * An episode and what it is judged by.
 *
 * @param submission what its environment hands in to the verifier; empty if its last answer is
 *     judged
 */
public record SampledEpisode(Episode episode, String submission) {
  private static final Set<StopReason> CUT =
      EnumSet.of(StopReason.MAX_TOKENS, StopReason.CONTEXT_OVERFLOW);

  /** An episode whose last answer is judged. */
  public static SampledEpisode of(Episode episode) {
    return new SampledEpisode(episode, "");
  }

  /** Whether a limit of tokens ended it. */
  public boolean truncated() {
    return CUT.contains(episode.stop());
  }

  /** What verifiers judge: the submission, or the last answer, cut before a stop text. */
  public String judged(Tokenizer tokenizer, List<String> stops) {
    return submission.isEmpty() ? EpisodeTrace.answer(episode, tokenizer, stops) : submission;
  }
}
