package io.troupe.runtime.episode;

import io.troupe.core.prompt.OpenThought;
import io.troupe.core.prompt.Prompt;
import io.troupe.core.reward.EpisodeText;
import io.troupe.core.rollout.Episode;
import io.troupe.core.rollout.EpisodeSequence;
import io.troupe.core.rollout.StopReason;
import io.troupe.core.rollout.Turn;
import io.troupe.engine.Tokenizer;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * An episode and what it is judged by.
 *
 * @param submission files that the environment hands in to the verifier; empty if the last answer
 *     is judged
 * @param rewards the environment's reward of each turn, in order; none where there is no
 *     environment
 */
public record SampledEpisode(Episode episode, String submission, List<Double> rewards) {
  private static final Set<StopReason> CUT =
      EnumSet.of(StopReason.MAX_TOKENS, StopReason.CONTEXT_OVERFLOW);

  public SampledEpisode {
    rewards = List.copyOf(rewards);
  }

  /** An episode whose last answer is judged. */
  public static SampledEpisode of(Episode episode) {
    return new SampledEpisode(episode, "", List.of());
  }

  /** Whether a limit of tokens ended it. */
  public boolean truncated() {
    return CUT.contains(episode.stop());
  }

  /**
   * Returns the texts from which the reward is made: the submission, or the last answer, cut before
   * a stop text, and the turns.
   *
   * @param prompt that the episode began with
   * @param settings of the run's episodes
   */
  public EpisodeText text(
      Prompt prompt, Tokenizer tokenizer, List<String> stops, EpisodeSettings settings) {
    if (!submission.isEmpty()) {
      return EpisodeTrace.of(this, tokenizer).handingIn(submission);
    }
    String answer = EpisodeTrace.answer(episode, tokenizer, stops);
    return settings instanceof EpisodeSettings.SingleTurn
        ? EpisodeText.answering(prompt, answer)
        : EpisodeTrace.of(this, tokenizer).answering(answer, thoughtOpen(prompt, tokenizer));
  }

  /**
   * Whether the last answer begins inside a thought, by the ids of its request: texts that it shows
   * may have the marks of thoughts. The request may begin a sequence.
   *
   * @param prompt that the episode began with
   */
  public boolean thoughtOpen(Prompt prompt, Tokenizer tokenizer) {
    Turn turn = episode.turns().getLast();
    int[] shown = turn.observed();
    for (EpisodeSequence later : episode.sequences().subList(1, episode.sequences().size())) {
      shown = later.turns().getFirst().ordinal() == turn.ordinal() ? later.prompt() : shown;
    }
    return shown.length == 0
        ? OpenThought.endsInside(prompt.text())
        : ThoughtAtEnd.isOpen(shown, tokenizer);
  }
}
