package io.troupe.tasks.rows;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;

/**
 * Paths to the values of a row: a column's name, or names with dots between them that lead into its
 * objects, and numbers from 0 into its lists.
 */
final class FieldPath {
  private FieldPath() {}

  /** Returns the value at a path; a missing node if there is none. */
  static JsonNode value(JsonNode fields, String path) {
    if (fields.has(path)) {
      return fields.path(path);
    }
    for (int dot = path.indexOf('.'); dot > 0; dot = path.indexOf('.', dot + 1)) {
      JsonNode inner = step(fields, path.substring(0, dot));
      JsonNode found = value(inner, path.substring(dot + 1));
      if (!found.isMissingNode()) {
        return found;
      }
    }
    return step(fields, path);
  }

  private static JsonNode step(JsonNode from, String name) {
    if (from.isArray()) {
      return name.matches("[0-9]{1,6}")
          ? from.path(Integer.parseInt(name))
          : MissingNode.getInstance();
    }
    return from.path(name);
  }
}
