package io.troupe.tasks.rows;

/**
 * A row breaks a rule; the message is for people, and the reader of the file adds file and line.
 */
public final class RowException extends Exception {
  private static final long serialVersionUID = 1;
  private static final int VALUE_SHOWN = 80;

  /**
   * Creates an exception for a broken rule.
   *
   * @param rule as a sentence without its end: "the answer must be a number"
   * @param value that breaks it
   */
  public RowException(String rule, String value) {
    super(said(rule, value));
  }

  /** Returns a broken rule as a sentence. */
  static String said(String rule, String value) {
    return "%s, not %s".formatted(rule, shown(value));
  }

  private static String shown(String value) {
    return value.length() <= VALUE_SHOWN ? value : value.substring(0, VALUE_SHOWN) + "…";
  }
}
