package io.troupe.gym.factory;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.base.text.PythonJson;
import io.troupe.base.text.PythonNumber;
import java.util.Map;

/**
 * JSON text as Python's {@code json.dumps} writes it: {@code ", "} and {@code ": "} between parts,
 * and every character beyond printable ASCII as a lower-case escape.
 */
final class DumpedJson {
  private DumpedJson() {}

  static String text(JsonNode node) {
    StringBuilder text = new StringBuilder();
    append(text, node);
    return text.toString();
  }

  private static void append(StringBuilder text, JsonNode node) {
    if (node.isObject()) {
      text.append('{');
      String between = "";
      for (Map.Entry<String, JsonNode> each : node.properties()) {
        text.append(between);
        PythonJson.quote(each.getKey(), true, text);
        text.append(": ");
        append(text, each.getValue());
        between = ", ";
      }
      text.append('}');
    } else if (node.isArray()) {
      text.append('[');
      String between = "";
      for (JsonNode each : node) {
        text.append(between);
        append(text, each);
        between = ", ";
      }
      text.append(']');
    } else if (node.isTextual()) {
      PythonJson.quote(node.textValue(), true, text);
    } else if (node.isNumber()) {
      text.append(PythonNumber.json(node.numberValue()));
    } else {
      text.append(node);
    }
  }
}
