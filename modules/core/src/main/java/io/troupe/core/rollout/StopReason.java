package io.troupe.core.rollout;

/**
 * The reason why an episode ended. Infrastructure that fails ends no episode: its work is lost, not
 * scored.
 */
public enum StopReason {
  /** The policy gave its answer, or the agent program ended by itself. */
  COMPLETED,
  /** A tool or the environment declared the task done. */
  TOOL,
  /** The episode had as many turns as it may have. */
  MAX_TURNS,
  /** A turn, or all turns together, reached the token limit. */
  MAX_TOKENS,
  /** The episode called tools as often as it may. */
  MAX_TOOL_CALLS,
  /** The next request would not have fitted the policy's context. */
  CONTEXT_OVERFLOW,
  /** A tool call could not be read, and the run ends an episode for that. */
  PARSE_ERROR,
  /** The agent was silent, or at work, for longer than it may be. */
  TIMEOUT
}
