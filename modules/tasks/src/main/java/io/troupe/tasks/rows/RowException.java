package io.troupe.tasks.rows;

/** What a row breaks, said for a person; the reader of the file adds file and line. */
public final class RowException extends Exception {
  private static final long serialVersionUID = 1;
  private static final int VALUE_SHOWN = 80;

  /**
   * A breach.
   *
   * @param rule as a sentence without its end: "the answer must be a number"
   * @param value that breaks it
   */
  public RowException(String rule, String value) {
    super(said(rule, value));
  }

  /** A breach as a sentence. */
  static String said(String rule, String value) {
    return "%s, not %s".formatted(rule, shown(value));
  }

  private static String shown(String value) {
    return value.length() <= VALUE_SHOWN ? value : value.substring(0, VALUE_SHOWN) + "…";
  }
}
