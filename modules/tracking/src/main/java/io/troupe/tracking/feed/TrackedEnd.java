package io.troupe.tracking.feed;

/**
 * The end of a run.
 *
 * @param atMillis since 1970
 * @param kind whether it can be resumed, has failed, or is complete
 */
public record TrackedEnd(long atMillis, Kind kind) {
  /** The kinds of an end. */
  public enum Kind {
    COMPLETED,
    INTERRUPTED,
    FAILED
  }
}
