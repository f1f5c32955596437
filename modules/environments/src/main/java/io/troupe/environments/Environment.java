package io.troupe.environments;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.rollout.ToolRun;

/**
 * The environment in which a policy acts during one episode. An instance serves one episode, one
 * call at a time, and keeps what its tools keep between the calls. Calls may block.
 */
public interface Environment extends AutoCloseable {
  /**
   * Begins the episode.
   *
   * @param seed the same for the same episode of the same run
   * @throws EnvironmentFailedException if it cannot begin, through no fault of the policy
   */
  void reset(Prompt prompt, long seed);

  /**
   * Carries out a call that can be read, of a tool of this environment. What the policy does wrong
   * is a result, not an exception.
   *
   * @throws EnvironmentFailedException if the environment is at fault; the episode is lost
   */
  ToolResult step(ToolCall call);

  /**
   * Says what a call is that has taken longer than the run allows; the environment is closed
   * afterwards. By default that is the policy's doing, and ends the episode.
   *
   * @throws EnvironmentFailedException if the environment is at fault; the episode is lost
   */
  default ToolResult overdue(ToolCall call) {
    return new ToolResult("", 1, ToolRun.Outcome.TIMED_OUT, false);
  }

  /**
   * Returns what is judged in place of the policy's last answer, when the episode has ended and
   * before it is closed; empty if that is the last answer.
   *
   * @throws EnvironmentFailedException if the environment is at fault; the episode is lost
   */
  default String submission() {
    return "";
  }

  /** Ends the episode, at any time, and from any thread; a call at work ends soon. */
  @Override
  void close();
}
