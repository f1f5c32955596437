package io.troupe.tasks.rows;

/**
 * The data of a task breaks a rule or cannot be found; the message names file, line, rule and value
 * of each error, or the places that were searched.
 */
public final class TaskDataException extends RuntimeException {
  private static final long serialVersionUID = 1;

  public TaskDataException(String message) {
    super(message);
  }
}
