package io.troupe.tasks.sets;

/** What became of a row. */
public sealed interface RowOutcome {
  /** It is an item. */
  record Taken(DataItem item) implements RowOutcome {}

  /**
   * It is sound and yet no item, because nothing could judge it; rows are counted by reason.
   *
   * @param id that its item would have
   * @param lacks what it lacks, such as "tests"
   */
  record Skipped(String id, String lacks) implements RowOutcome {}
}
