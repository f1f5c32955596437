package io.troupe.tasks.rows;

import com.fasterxml.jackson.databind.JsonNode;

/**
 * A row breaks a rule; the message is for people, and the reader of the file adds file and line.
 */
public final class RowException extends Exception {
  private static final long serialVersionUID = 1;
  private static final int VALUE_SHOWN = 80;

  private final String kind;

  /**
   * Creates an exception for a broken rule.
   *
   * @param rule as a sentence without its end: "the answer must be a number"
   * @param value that breaks it
   */
  public RowException(String rule, String value) {
    this(rule, value, "");
  }

  /**
   * Creates an exception for a broken rule and what to do about it.
   *
   * @param rule as a sentence without its end, the same for all rows that break it
   * @param remedy what to do, or what else there is to know; may be empty
   */
  public RowException(String rule, String value, String remedy) {
    this(rule, value, remedy, rule);
  }

  /** Creates an exception for a value of a field. */
  public RowException(String rule, JsonNode value, String remedy) {
    this(rule, written(value), remedy, rule + " " + ValueText.form(value));
  }

  private RowException(String rule, String value, String remedy, String kind) {
    super(said(rule, value) + (remedy.isEmpty() ? "" : "; " + remedy));
    this.kind = kind;
  }

  /** Returns what is equal for all rows that break the same rule in the same way. */
  String kind() {
    return kind;
  }

  /** Returns a broken rule as a sentence. */
  static String said(String rule, String value) {
    return "%s, not %s".formatted(rule, shown(value));
  }

  private static String written(JsonNode value) {
    return value.isMissingNode() ? "absent" : value.toString();
  }

  private static String shown(String value) {
    return value.length() <= VALUE_SHOWN ? value : value.substring(0, VALUE_SHOWN) + "…";
  }
}
