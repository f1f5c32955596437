package io.troupe.tasks.rows;

/**
 * A task's data breaks a rule or is not to be had; the message names file, line, rule and value of
 * each breach, or where the data was looked for.
 */
public final class TaskDataException extends RuntimeException {
  private static final long serialVersionUID = 1;

  public TaskDataException(String message) {
    super(message);
  }
}
