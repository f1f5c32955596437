package io.troupe.tasks.rows;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.tasks.columns.CellNodes;
import java.util.Optional;

/** The texts of single values: what a person would read in a cell of a table. */
public final class ValueText {
  private ValueText() {}

  /**
   * Returns a text as it is, a number in plain notation, or a boolean; empty for lists, objects,
   * and what is absent.
   */
  public static Optional<String> of(JsonNode value) {
    return isAbsent(value) || !value.isValueNode()
        ? Optional.empty()
        : Optional.of(value.isNumber() ? CellNodes.plain(value) : value.asText());
  }

  /** Whether there is no value: none at all, null, or not a number, as pandas writes no value. */
  public static boolean isAbsent(JsonNode value) {
    return value.isMissingNode()
        || value.isNull()
        || ((value.isDouble() || value.isFloat()) && Double.isNaN(value.doubleValue()));
  }

  /** Returns the form of a value in one word. */
  static String form(JsonNode value) {
    return switch (value.getNodeType()) {
      case MISSING -> "absent";
      case NULL -> "null";
      case STRING -> value.textValue().isBlank() ? "blank" : "text";
      case NUMBER -> isAbsent(value) ? "absent" : "number";
      case BOOLEAN -> "boolean";
      case ARRAY -> value.isEmpty() ? "empty list" : "list";
      case OBJECT -> "object";
      case BINARY, POJO -> "other";
    };
  }
}
