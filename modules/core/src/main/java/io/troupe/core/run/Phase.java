package io.troupe.core.run;

/** Where a run stands. */
public sealed interface Phase {
  /** The trainer is not ready yet. */
  record Starting() implements Phase {}

  /** Prompts are admitted and steps are made. */
  record Running() implements Phase {}

  /** Groups under lease may finish until the deadline; nothing new begins. Then the run ends so. */
  record Draining(long deadlineMillis, RunEnd end) implements Phase {}

  /** The last checkpoint is being written; then the run ends so. */
  record Saving(RunEnd end) implements Phase {}

  /** The run is over. */
  record Ended(RunEnd end) implements Phase {}
}
