package io.troupe.tasks.rows;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;

/** The JSON parser for data sets: strict, with limits that allow the longest published tests. */
public final class RowJson {
  /** The most digits of a number: tests of APPS have numbers of more than ten thousand digits. */
  private static final int NUMBER_DIGITS = 100_000;

  private static final int STRING_CHARACTERS = 200_000_000;

  /** Reads and writes rows. */
  static final JsonMapper MAPPER =
      JsonMapper.builder(
              JsonFactory.builder()
                  .streamReadConstraints(
                      StreamReadConstraints.builder()
                          .maxNumberLength(NUMBER_DIGITS)
                          .maxStringLength(STRING_CHARACTERS)
                          .build())
                  .build())
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .build();

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
