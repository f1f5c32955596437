package io.troupe.tasks.columns;

/**
 * A file is damaged, or a column that is used cannot be read; the message names both and the
 * remedy.
 */
public final class ColumnException extends RuntimeException {
  private static final long serialVersionUID = 1;

  ColumnException(String message) {
    super(message);
  }
}
