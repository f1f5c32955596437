package io.troupe.environments;

import io.troupe.core.rollout.ToolRun;

/**
 * What a tool made of a call.
 *
 * @param text what the policy is shown
 * @param exit 0 for success, as of a process
 * @param outcome how the call ended
 * @param done whether the episode is over with it
 */
public record ToolResult(String text, int exit, ToolRun.Outcome outcome, boolean done) {
  /** A tool's finding. */
  public static ToolResult of(String text) {
    return new ToolResult(text, 0, ToolRun.Outcome.RAN, false);
  }

  /** An error that the policy made, and may mend. */
  public static ToolResult error(String text) {
    return new ToolResult(text, 1, ToolRun.Outcome.RAN, false);
  }
}
