package io.troupe.runtime.episode;

import io.troupe.core.rollout.Episode;
import io.troupe.engine.Tokenizer;
import java.util.List;

/**
 * An episode and what it is judged by.
 *
 * @param submission what its environment hands in to the verifier; empty if its last answer is
 *     judged
 */
public record SampledEpisode(Episode episode, String submission) {
  /** An episode whose last answer is judged. */
  public static SampledEpisode of(Episode episode) {
    return new SampledEpisode(episode, "");
  }

  /** What verifiers judge: the submission, or the last answer, cut before a stop text. */
  public String judged(Tokenizer tokenizer, List<String> stops) {
    return submission.isEmpty() ? EpisodeTrace.answer(episode, tokenizer, stops) : submission;
  }
}
