package io.troupe.tasks.rows;

import java.nio.file.Path;

/** Refuses Arrow files with what to do. */
final class ArrowRows {
  private ArrowRows() {}

  static void read(Path file, RowFiles rows) {
    rows.breach(file.toString(), "Arrow cannot be read yet; convert it to JSON Lines");
  }
}
