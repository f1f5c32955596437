package io.troupe.core.run;

/** How a run ended. */
public sealed interface RunEnd {
  /** All steps, or all epochs, are done. */
  record Completed() implements RunEnd {}

  /** Somebody asked for it; everything is saved and the run can be resumed. */
  record Interrupted() implements RunEnd {}

  /** It could not go on. */
  record Failed(String reason) implements RunEnd {}
}
