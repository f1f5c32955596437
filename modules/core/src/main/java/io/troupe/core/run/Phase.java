package io.troupe.core.run;

/** The part of its life that a run is in. */
public sealed interface Phase {
  /** The trainer is not ready yet. */
  record Starting() implements Phase {}

  /** Prompts are admitted and steps are made. */
  record Running() implements Phase {}

  /** Groups under lease may finish until the deadline; nothing new begins. {@code end} follows. */
  record Draining(long deadlineMillis, RunEnd end) implements Phase {}

  /** The last checkpoint is being written; {@code end} follows. */
  record Saving(RunEnd end) implements Phase {}

  /** The run is over. */
  record Ended(RunEnd end) implements Phase {}
}
