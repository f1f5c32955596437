package io.troupe.tasks;

/**
 * A task's data file breaks a rule; the message names file, line, rule and value of each breach.
 */
public final class BadTaskData extends RuntimeException {
  private static final long serialVersionUID = 1;

  BadTaskData(String message) {
    super(message);
  }
}
