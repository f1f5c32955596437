package io.troupe.tasks;

/** Decides whose prompts keep the rows that they were made of. */
@FunctionalInterface
public interface RowKeeping {
  /** No prompt keeps its row. */
  RowKeeping NONE = (_, _) -> false;

  /**
   * Whether the prompts of a source keep their rows.
   *
   * @param verifier of the source, unless the run has others for it
   */
  boolean keeps(String source, String verifier);
}
