package io.troupe.core.rollout;

import static io.troupe.core.Require.require;

/**
 * One call of a tool, by a turn of an episode.
 *
 * @param id of the call, unique in its episode
 * @param name of the tool as the policy spelled it
 * @param outcome whether and how it ran
 * @param exit exit code that the tool reported: 0 for success, as of a process
 * @param startMillis beginning of the call, on the clock of the worker's process
 * @param millis duration of the call
 * @param argumentBytes length of the arguments that the tool was given, in UTF-8
 * @param bytes length of the result that the policy was shown, in UTF-8
 */
public record ToolRun(
    String id,
    String name,
    Outcome outcome,
    int exit,
    long startMillis,
    long millis,
    int argumentBytes,
    int bytes) {
  /** The end of a call of a tool; in each case the policy is shown a result. */
  public enum Outcome {
    /** The tool ran; what it found may still be an error of the policy's. */
    RAN,
    /** No tool has the name. */
    UNKNOWN_TOOL,
    /** The call, or its arguments, could not be read. */
    MALFORMED,
    /** The tool took longer than it may, and was ended. */
    TIMED_OUT,
    /** The code of the policy ended the tool's process, or used up what the process may use. */
    KILLED
  }

  public ToolRun {
    require(millis >= 0, "a tool runs for 0 ms or more, not %d", millis);
    require(
        argumentBytes >= 0, "the arguments of a tool have 0 bytes or more, not %d", argumentBytes);
    require(bytes >= 0, "the result of a tool has 0 bytes or more, not %d", bytes);
  }
}
