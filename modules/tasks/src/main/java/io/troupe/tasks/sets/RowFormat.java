package io.troupe.tasks.sets;

import io.troupe.tasks.rows.Row;
import io.troupe.tasks.rows.RowException;

/**
 * Converts the rows of one data set in their order. A format may count rows, so each pass needs a
 * format of its own.
 */
@FunctionalInterface
public interface RowFormat {
  /** Returns the outcome of a row. */
  RowOutcome read(Row row) throws RowException;

  /** Creates a format for each pass. */
  @FunctionalInterface
  interface Factory {
    /**
     * Creates a format.
     *
     * @param idPrefix of ids made of positions, such as {@code gsm8k_}; ids in the rows themselves
     *     do not change, so that a row in both training and evaluation data is noticed
     */
    RowFormat create(String idPrefix);
  }
}
