package io.troupe.tasks.rows;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;

/**
 * One row of a data set.
 *
 * @param number in the data set, from 0, over all its files; rows that are left out count
 * @param place file and line, or file and row where the file has no lines
 * @param fields by their names in the file
 */
public record Row(int number, String place, ObjectNode fields) {
  /** Returns the text under a key, which must exist and not be blank. */
  public String text(String key) throws RowException {
    JsonNode value = fields.path(key);
    if (!value.isTextual() || value.textValue().isBlank()) {
      throw bad(key, "must be a string that is not blank");
    }
    return value.textValue();
  }

  /** Returns the text under a key; empty if the key is absent or null. */
  public String textOrEmpty(String key) throws RowException {
    JsonNode value = fields.path(key);
    if (value.isMissingNode() || value.isNull()) {
      return "";
    }
    if (!value.isTextual()) {
      throw bad(key, "must be a string");
    }
    return value.textValue();
  }

  /** Returns a string, number or boolean under a key as text, without white space at its ends. */
  public String scalar(String key) throws RowException {
    JsonNode value = fields.path(key);
    if (!value.isValueNode() || value.isNull() || value.asText().isBlank()) {
      throw bad(key, "must be a string or a number that is not blank");
    }
    return value.asText().strip();
  }

  /** Returns the strings under a key, which must hold a list of strings; the list may be empty. */
  public List<String> texts(String key) throws RowException {
    JsonNode value = fields.path(key);
    if (!value.isArray()) {
      throw bad(key, "must be a list of strings");
    }
    List<String> texts = new ArrayList<>(value.size());
    for (JsonNode each : value) {
      if (!each.isTextual()) {
        throw bad(key, "must be a list of strings");
      }
      texts.add(each.textValue());
    }
    return texts;
  }

  /** Whether the key exists and is not null. */
  public boolean has(String key) {
    return fields.hasNonNull(key);
  }

  /** Returns the exception for a value that breaks a rule. */
  public RowException bad(String key, String rule) {
    JsonNode value = fields.path(key);
    return new RowException(
        "\"%s\" %s".formatted(key, rule), value.isMissingNode() ? "absent" : value.toString());
  }
}
