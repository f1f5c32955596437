package io.troupe.tasks.rows;

import com.fasterxml.jackson.databind.JsonNode;
import java.math.BigDecimal;
import java.util.Optional;

/** The texts of single values: what a person would read in a cell of a table. */
public final class ValueText {
  /** The most zeros that are written out; 1e999 stays as it is. */
  private static final int ZEROS = 100;

  private ValueText() {}

  /**
   * Returns a text as it is, a number in plain notation (12345678.0 as 12345678, 2.50 as 2.50), or
   * a boolean; empty for lists, objects, and what is absent.
   */
  public static Optional<String> of(JsonNode value) {
    if (isAbsent(value) || !value.isValueNode()) {
      return Optional.empty();
    }
    return Optional.of(
        value.isNumber() && !value.isIntegralNumber() ? plain(value.asText()) : value.asText());
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

  private static String plain(String number) {
    BigDecimal exact;
    try {
      exact = new BigDecimal(number);
    } catch (NumberFormatException _) {
      return number; // an infinity
    }
    BigDecimal shortest = exact.stripTrailingZeros();
    if (Math.abs((long) shortest.scale()) > ZEROS) {
      return number;
    }
    return (shortest.scale() <= 0 ? shortest : exact).toPlainString();
  }
}
