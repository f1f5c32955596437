package io.troupe.tasks.sets;

/** What became of a row. */
public sealed interface Reading {
  /** It is an item. */
  record Taken(Item item) implements Reading {}

  /**
   * It is sound and yet no item, because nothing could judge it; rows are counted by reason.
   *
   * @param reason in the plural: "rows without tests"
   */
  record Skipped(String reason) implements Reading {}
}
