package io.troupe.verifiers;

import io.troupe.core.reward.AnswerPart;
import io.troupe.core.reward.EpisodeText;
import java.util.Optional;

/**
 * What a verifier is shown of a completion that thinks. Every verifier takes the option {@value
 * #OPTION}, with a default of its own.
 */
public enum ThoughtReading {
  /** The answer behind the thought; a completion without one is worth 0, whatever judges it. */
  DROP,
  /** The whole completion. */
  KEEP;

  /** The option of every verifier that chooses its reading. */
  public static final String OPTION = "thoughts";

  /** Returns the text that a verifier is shown; empty if the completion holds no answer for it. */
  public Optional<JudgedText> shown(EpisodeText episode) {
    return switch (this) {
      case KEEP -> Optional.of(new JudgedText(episode.answer(), episode.thoughtOpen()));
      case DROP ->
          switch (AnswerPart.of(episode.answer(), episode.thoughtOpen())) {
            case AnswerPart.Answer(String text, boolean tagged) ->
                Optional.of(new JudgedText(text, false, tagged));
            case AnswerPart.UnfinishedThought _ -> Optional.empty();
          };
    };
  }
}
