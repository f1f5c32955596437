package io.troupe.runtime.episode;

import static io.troupe.core.Require.require;

import io.troupe.environments.EnvironmentProvider;
import io.troupe.environments.format.ToolFormat;
import io.troupe.gateway.agent.AgentSettings;
import java.time.Duration;

/** The form of a run's episodes. */
public sealed interface EpisodeSettings {
  /** An episode is one completion. */
  record SingleTurn() implements EpisodeSettings {}

  /**
   * Answers with calls of tools between them, until an answer calls none.
   *
   * @param maxTurns answers of an episode, 1 or more
   * @param maxToolCalls calls of an episode, 1 or more
   * @param toolTimeout of one call; the episode ends with the first that takes longer
   * @param endsOnParseError whether a call that cannot be read ends the episode; otherwise the
   *     policy is shown what is wrong with it
   */
  record ToolLoop(
      EnvironmentProvider provider,
      ToolFormat format,
      int maxTurns,
      int maxToolCalls,
      Duration toolTimeout,
      boolean endsOnParseError)
      implements EpisodeSettings {
    public ToolLoop {
      require(maxTurns >= 1, "an episode has at least one turn, not %d", maxTurns);
      require(maxToolCalls >= 1, "an episode may call a tool at least once, not %d", maxToolCalls);
    }
  }

  /**
   * Episodes of the processes of an agent program, each with a URL at which it asks the policy.
   *
   * @param settings of the program
   */
  record Agents(AgentSettings settings) implements EpisodeSettings {}
}
