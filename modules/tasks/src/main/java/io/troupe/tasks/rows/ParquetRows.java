package io.troupe.tasks.rows;

import java.nio.file.Path;

/** Refuses Parquet files with what to do. */
final class ParquetRows {
  private ParquetRows() {}

  static void read(Path file, RowFiles rows) {
    rows.breach(file.toString(), "Parquet cannot be read yet; convert it to JSON Lines");
  }
}
