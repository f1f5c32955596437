package io.troupe.real;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import java.util.List;

/** Lists of texts as JSON. */
final class JsonTexts {
  private static final JsonMapper JSON = new JsonMapper();

  private JsonTexts() {}

  static String list(List<String> texts) {
    ArrayNode array = JSON.createArrayNode();
    texts.forEach(array::add);
    return array.toString();
  }
}
