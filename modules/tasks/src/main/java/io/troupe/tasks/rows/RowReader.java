package io.troupe.tasks.rows;

/** Takes the rows of a data set one by one. */
@FunctionalInterface
public interface RowReader {
  /**
   * Takes a row.
   *
   * @throws RowException if it breaks a rule; the other rows are still read, so that all breaches
   *     are reported at once
   */
  void read(Row row) throws RowException;
}
