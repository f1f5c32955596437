package io.troupe.core.reward;

import io.troupe.core.Require;
import io.troupe.core.prompt.OpenThought;
import io.troupe.core.prompt.Prompt;
import java.util.List;

/**
 * The texts of an episode by which it is rewarded.
 *
 * @param answer the last answer, or what the episode's environment hands in
 * @param turns in the order in which they were asked for; none for an answer without turns
 * @param stop why the episode ended, in lower case; empty for an answer without turns
 * @param thoughtOpen whether the prompt of the answer ends inside a thought, which the answer
 *     continues
 */
public record EpisodeText(String answer, List<TurnText> turns, String stop, boolean thoughtOpen) {
  /**
   * One turn.
   *
   * @param observed text that the turn's request added for the policy
   * @param reward the sum of what the environment gave for its calls
   */
  public record TurnText(
      String agent, String observed, String sampled, List<ToolText> tools, double reward) {
    public TurnText {
      tools = List.copyOf(tools);
      Require.require(Double.isFinite(reward), "the reward of a turn is a number, not %s", reward);
    }
  }

  /**
   * A call of a tool that was carried out.
   *
   * @param name as the policy spelled it
   * @param outcome in lower case
   * @param exit 0 for success
   */
  public record ToolText(String name, String outcome, int exit) {}

  public EpisodeText {
    turns = List.copyOf(turns);
  }

  /** An episode whose last prompt ends outside of a thought. */
  public EpisodeText(String answer, List<TurnText> turns, String stop) {
    this(answer, turns, stop, false);
  }

  /** An answer to a prompt, without turns. */
  public static EpisodeText answering(Prompt prompt, String answer) {
    return of(answer, OpenThought.endsInside(prompt.text()));
  }

  /** An answer without turns, whose prompt ends outside of a thought. */
  public static EpisodeText of(String answer) {
    return of(answer, false);
  }

  /** An answer without turns. */
  public static EpisodeText of(String answer, boolean thoughtOpen) {
    return new EpisodeText(answer, List.of(), "", thoughtOpen);
  }

  /**
   * Returns all turns as one text, for verifiers that judge more than the answer: {@link
   * TraceText}.
   */
  public String trace() {
    return TraceText.of(this);
  }

  /** Returns the environment's reward of each turn, in order. */
  public List<Double> rewards() {
    return turns.stream().map(TurnText::reward).toList();
  }
}
