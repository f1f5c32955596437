package io.troupe.gym.model;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Compares JSON with a JSON Schema of the keywords {@code type} (object, array, string, integer),
 * {@code properties}, {@code required}, {@code items} and {@code enum}.
 */
final class JsonShape {
  private JsonShape() {}

  /** Returns the first violation, with its path. */
  static Optional<String> violation(JsonNode schema, JsonNode node, String path) {
    String type = schema.path("type").asText();
    boolean fits =
        switch (type) {
          case "object" -> node.isObject();
          case "array" -> node.isArray();
          case "string" -> node.isTextual();
          case "integer" -> node.isIntegralNumber();
          default ->
              throw new IllegalArgumentException("a schema's type is not '%s'".formatted(type));
        };
    if (!fits) {
      return Optional.of("%s must be of type %s".formatted(path, type));
    }
    if (schema.has("enum")) {
      List<String> values = new ArrayList<>();
      schema.path("enum").forEach(each -> values.add(each.asText()));
      if (!values.contains(node.asText())) {
        return Optional.of("%s must be one of %s".formatted(path, String.join(", ", values)));
      }
    }
    for (JsonNode name : schema.path("required")) {
      if (!node.has(name.asText())) {
        return Optional.of("%s must have %s".formatted(path, name.asText()));
      }
    }
    for (var each : schema.path("properties").properties()) {
      if (node.has(each.getKey())) {
        Optional<String> inner =
            violation(each.getValue(), node.path(each.getKey()), path + "." + each.getKey());
        if (inner.isPresent()) {
          return inner;
        }
      }
    }
    if (schema.has("items")) {
      for (int i = 0; i < node.size(); i++) {
        Optional<String> inner =
            violation(schema.path("items"), node.path(i), path + "[" + i + "]");
        if (inner.isPresent()) {
          return inner;
        }
      }
    }
    return Optional.empty();
  }
}
