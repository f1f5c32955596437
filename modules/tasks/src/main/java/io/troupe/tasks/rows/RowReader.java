package io.troupe.tasks.rows;

/** Receives the rows of a data set one by one. */
@FunctionalInterface
public interface RowReader {
  /**
   * Receives a row.
   *
   * @throws RowException if the row breaks a rule; the other rows are still read, so that all
   *     errors are reported at once
   */
  void read(Row row) throws RowException;
}
