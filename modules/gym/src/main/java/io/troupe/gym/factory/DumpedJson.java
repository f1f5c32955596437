package io.troupe.gym.factory;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Locale;
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
        quote(text, each.getKey());
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
      quote(text, node.textValue());
    } else {
      text.append(node);
    }
  }

  private static void quote(StringBuilder text, String string) {
    text.append('"');
    for (int i = 0; i < string.length(); i++) {
      char c = string.charAt(i);
      switch (c) {
        case '"' -> text.append("\\\"");
        case '\\' -> text.append("\\\\");
        case '\n' -> text.append("\\n");
        case '\r' -> text.append("\\r");
        case '\t' -> text.append("\\t");
        case '\b' -> text.append("\\b");
        case '\f' -> text.append("\\f");
        default -> {
          if (c < ' ' || c > '~') {
            text.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
          } else {
            text.append(c);
          }
        }
      }
    }
    text.append('"');
  }
}
