package io.troupe.evaluation;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.reward.EpisodeText;
import java.util.List;

/**
 * One sampled answer as a verifier reads it: a completion, or an episode with its last answer.
 *
 * @param text up to the first stop string
 * @param tokens sampled in all turns, stop tokens included
 * @param finish {@value #STOP} or {@value #LENGTH}, as OpenAI's interface has it
 */
public record Answer(String text, int tokens, String finish, AnsweredEpisode episode) {
  /** The policy ended the completion. */
  public static final String STOP = "stop";

  /** The limit of tokens ended it. */
  public static final String LENGTH = "length";

  /**
   * The turns of an episode beside its last answer. The turns have no times, so that an
   * evaluation's files are the same however long tools took.
   *
   * @param stop why it ended, in lower case
   * @param turns none for a completion
   * @param submission files that the environment hands in to the verifier; empty if the text is
   *     judged
   * @param thoughtOpen whether the last answer begins inside a thought; of a completion its prompt
   *     says it
   */
  public record AnsweredEpisode(
      String stop, List<AnswerTurn> turns, String submission, boolean thoughtOpen) {
    static final AnsweredEpisode NONE = new AnsweredEpisode("", List.of(), "", false);

    public AnsweredEpisode {
      turns = List.copyOf(turns);
    }
  }

  /**
   * One turn.
   *
   * @param observed text that its request adds to the former turn's
   * @param tokens sampled ones
   * @param reward the environment's reward for the turn's calls
   */
  public record AnswerTurn(
      String agent,
      String observed,
      String sampled,
      int tokens,
      List<ToolUse> tools,
      double reward) {
    public AnswerTurn {
      tools = List.copyOf(tools);
    }
  }

  /**
   * A call of a tool that was carried out.
   *
   * @param outcome in lower case
   * @param bytes of its result
   */
  public record ToolUse(String name, String outcome, int exit, int bytes) {}

  /** A completion. */
  public Answer(String text, int tokens, String finish) {
    this(text, tokens, finish, AnsweredEpisode.NONE);
  }

  boolean truncated() {
    return finish.equals(LENGTH);
  }

  /** Returns the text that is judged. */
  public EpisodeText judged(Prompt prompt) {
    if (episode.turns().isEmpty()) {
      return EpisodeText.answering(prompt, text);
    }
    List<EpisodeText.TurnText> turns = episode.turns().stream().map(Answer::turn).toList();
    return episode.submission().isEmpty()
        ? new EpisodeText(text, turns, episode.stop(), episode.thoughtOpen())
        : new EpisodeText(episode.submission(), turns, episode.stop());
  }

  private static EpisodeText.TurnText turn(AnswerTurn turn) {
    return new EpisodeText.TurnText(
        turn.agent(),
        turn.observed(),
        turn.sampled(),
        turn.tools().stream()
            .map(tool -> new EpisodeText.ToolText(tool.name(), tool.outcome(), tool.exit()))
            .toList(),
        turn.reward());
  }
}
