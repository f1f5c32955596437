package io.troupe.tasks.sets;

import io.troupe.tasks.rows.Row;
import io.troupe.tasks.rows.RowException;

/** Reads the rows of one data set in their order; it may count, so each reading needs its own. */
@FunctionalInterface
public interface RowFormat {
  /** What a row is. */
  RowOutcome read(Row row) throws RowException;

  /** Makes formats, one a reading. */
  @FunctionalInterface
  interface Factory {
    /**
     * A fresh format.
     *
     * @param idPrefix of ids made of positions, such as {@code gsm8k_}; ids that the rows bring
     *     along stay as they are, so that a row in both training and evaluation data is noticed
     */
    RowFormat create(String idPrefix);
  }
}
