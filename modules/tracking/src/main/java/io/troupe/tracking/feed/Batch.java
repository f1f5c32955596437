package io.troupe.tracking.feed;

import java.util.List;

/**
 * The next metrics and tables for a tracker, in the order of the run.
 *
 * @param rows of ascending steps
 * @param samples of ascending times
 * @param tables of ascending steps
 * @param ends at most one
 * @param next the cursor behind all of it, but for what the tracker itself keeps in it
 */
public record Batch(
    List<TrackedRow> rows,
    List<SystemSample> samples,
    List<RolloutTable> tables,
    List<TrackedEnd> ends,
    TrackerCursor next) {
  public Batch {
    rows = List.copyOf(rows);
    samples = List.copyOf(samples);
    tables = List.copyOf(tables);
    ends = List.copyOf(ends);
  }

  /** This batch for a tracker that was opened at a cursor. */
  public Batch into(TrackerCursor opened) {
    return new Batch(rows, samples, tables, ends, next.keeping(opened, ends.isEmpty()));
  }

  /** Whether there is nothing to send. */
  public boolean isEmpty() {
    return rows.isEmpty() && samples.isEmpty() && tables.isEmpty() && ends.isEmpty();
  }
}
