package io.troupe.tasks.columns;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.DoubleNode;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import java.util.Optional;

/**
 * The JSON parser for data sets: strict but for NaN, Infinity and -Infinity as Python writes them,
 * with limits that allow the longest published tests; its numbers are those of {@link CellNodes}.
 */
public final class CellJson {
  /** The most digits of a number: tests of APPS have numbers of more than ten thousand digits. */
  private static final int NUMBER_DIGITS = 100_000;

  private static final int STRING_CHARACTERS = 200_000_000;

  /** Reads and writes rows. */
  public static final JsonMapper MAPPER =
      JsonMapper.builder(
              JsonFactory.builder()
                  .streamReadConstraints(
                      StreamReadConstraints.builder()
                          .maxNumberLength(NUMBER_DIGITS)
                          .maxStringLength(STRING_CHARACTERS)
                          .build())
                  .build())
          .nodeFactory(CellNodes.INSTANCE)
          .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .build();

  private CellJson() {}

  /** Returns the JSON of a text. */
  public static String text(String value) {
    return TextNode.valueOf(value).toString();
  }

  /**
   * Returns the JSON of a cell, with {@code null} for each NaN, which is how pandas writes that
   * there is no value; empty if a part of the cell cannot be read.
   */
  public static Optional<String> text(JsonNode cell) {
    return readable(cell) ? Optional.of(withoutNan(cell).toString()) : Optional.empty();
  }

  private static boolean readable(JsonNode cell) {
    return !(cell instanceof UnreadableCell)
        && (!cell.isContainerNode() || cell.valueStream().allMatch(CellJson::readable));
  }

  private static JsonNode withoutNan(JsonNode cell) {
    return switch (cell) {
      case ArrayNode list -> {
        ArrayNode items = MAPPER.createArrayNode();
        list.forEach(item -> items.add(withoutNan(item)));
        yield items;
      }
      case ObjectNode object -> {
        ObjectNode fields = MAPPER.createObjectNode();
        object.properties().forEach(f -> fields.set(f.getKey(), withoutNan(f.getValue())));
        yield fields;
      }
      case DoubleNode number when Double.isNaN(number.doubleValue()) -> NullNode.instance;
      default -> cell;
    };
  }
}
