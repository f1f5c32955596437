package io.troupe.tasks.sets;

/** The outcome of converting a row. */
public sealed interface RowOutcome {
  /** The row is an item. */
  record Taken(DataItem item) implements RowOutcome {}

  /**
   * The row is valid but no item, because no verifier could judge it; skipped rows are counted by
   * reason.
   *
   * @param id of the item that the row would be
   * @param lacks the missing part, such as "tests"
   */
  record Skipped(String id, String lacks) implements RowOutcome {}
}
