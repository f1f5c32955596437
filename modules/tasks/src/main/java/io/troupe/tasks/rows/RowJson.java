package io.troupe.tasks.rows;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.tasks.columns.CellJson;

/** The JSON of rows. */
public final class RowJson {
  /** Reads and writes rows. */
  static final JsonMapper MAPPER = CellJson.MAPPER;

  private RowJson() {}

  /** Returns a new object without fields. */
  public static ObjectNode object() {
    return MAPPER.createObjectNode();
  }

  /** Returns a value as maps, lists, texts, numbers and booleans. */
  public static Object plain(JsonNode value) {
    return MAPPER.convertValue(value, Object.class);
  }

  /** Returns the JSON value of a text. */
  public static JsonNode parse(String text, String what) throws RowException {
    try {
      return MAPPER.readTree(text);
    } catch (JsonProcessingException e) {
      throw new RowException("%s must be JSON (%s)".formatted(what, e.getOriginalMessage()), text);
    }
  }
}
