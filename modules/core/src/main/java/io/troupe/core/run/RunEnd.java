package io.troupe.core.run;

/** The end of a run. */
public sealed interface RunEnd {
  /** The run has made all steps, or all epochs. */
  record Completed() implements RunEnd {}

  /** An operator or a signal ended the run; everything is saved, and it can be resumed. */
  record Interrupted() implements RunEnd {}

  /** The run cannot continue. */
  record Failed(String reason) implements RunEnd {}
}
