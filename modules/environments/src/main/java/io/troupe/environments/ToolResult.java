package io.troupe.environments;

import static io.troupe.core.Require.require;

import io.troupe.core.rollout.ToolRun;

/**
 * The result of a tool for a call.
 *
 * @param text text that the policy is shown
 * @param exit 0 for success, as of a process
 * @param outcome end of the call
 * @param done whether the episode is over with it
 * @param reward for the call, any finite number; a run sums those of an episode where its {@code
 *     verifier.rewards} say so
 */
public record ToolResult(
    String text, int exit, ToolRun.Outcome outcome, boolean done, double reward) {
  public ToolResult {
    require(Double.isFinite(reward), "the reward of a call is a finite number, not %s", reward);
  }

  /** A result without a reward. */
  public ToolResult(String text, int exit, ToolRun.Outcome outcome, boolean done) {
    this(text, exit, outcome, done, 0);
  }

  /** A tool's finding. */
  public static ToolResult of(String text) {
    return new ToolResult(text, 0, ToolRun.Outcome.RAN, false);
  }

  /** An error that the policy made, and may mend. */
  public static ToolResult error(String text) {
    return new ToolResult(text, 1, ToolRun.Outcome.RAN, false);
  }
}
