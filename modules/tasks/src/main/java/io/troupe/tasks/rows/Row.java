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
  private static final int COLUMNS_SHOWN = 20;

  /**
   * Returns the value of a column, or that at a path with dots into its objects; a missing node if
   * there is none.
   */
  public JsonNode at(String path) {
    return FieldPath.value(fields, path);
  }

  /** Returns the text under a key, which must exist and not be blank. */
  public String text(String key) throws RowException {
    JsonNode value = at(key);
    if (!value.isTextual() || value.textValue().isBlank()) {
      throw bad(key, "must be a string that is not blank");
    }
    return value.textValue();
  }

  /** Returns the text under a key; empty if the key is absent or null. */
  public String textOrEmpty(String key) throws RowException {
    JsonNode value = at(key);
    if (ValueText.isAbsent(value)) {
      return "";
    }
    if (!value.isTextual()) {
      throw bad(key, "must be a string");
    }
    return value.textValue();
  }

  /** Returns a string, number or boolean under a key as text, without white space at its ends. */
  public String scalar(String key) throws RowException {
    return ValueText.of(at(key))
        .map(String::strip)
        .filter(text -> !text.isEmpty())
        .orElseThrow(() -> bad(key, "must be a string or a number that is not blank"));
  }

  /** Returns the strings under a key, which must hold a list of strings; the list may be empty. */
  public List<String> texts(String key) throws RowException {
    JsonNode value = at(key);
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

  /** Whether there is a value under the key, which is not null. */
  public boolean has(String key) {
    return !ValueText.isAbsent(at(key));
  }

  /** Returns the exception for a value that breaks a rule. */
  public RowException bad(String key, String rule) {
    String remedy =
        at(key).isMissingNode()
            ? columns()
                + ColumnRole.meant(key, fields).map("; did you mean \"%s\"?"::formatted).orElse("")
            : "";
    return bad(key, rule, remedy);
  }

  /**
   * Returns the exception for a value that breaks a rule.
   *
   * @param remedy what to do; may be empty
   */
  public RowException bad(String key, String rule, String remedy) {
    return new RowException("\"%s\" %s".formatted(key, rule), at(key), remedy);
  }

  /** Returns the columns that there are, as part of a sentence. */
  public String columns() {
    List<String> names = fields.propertyStream().map(each -> each.getKey()).toList();
    return names.isEmpty()
        ? "the row has no columns"
        : "the row has "
            + String.join(", ", names.subList(0, Math.min(COLUMNS_SHOWN, names.size())))
            + (names.size() > COLUMNS_SHOWN ? ", …" : "");
  }
}
