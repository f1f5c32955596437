package io.troupe.tasks.rows;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The tools of a row, which OpenAI's form has beside the messages. */
public final class DeclaredTools {
  /** The column: a list, or its JSON text. */
  public static final String FIELD = "tools";

  private static final String FUNCTION = "function";

  private DeclaredTools() {}

  /**
   * Returns the tools as templates take them, a bare function as the function of a tool; none if
   * the column is absent or blank.
   */
  public static List<Object> of(Row row) throws RowException {
    JsonNode value = row.at(FIELD);
    if (ValueText.isAbsent(value) || (value.isTextual() && value.textValue().isBlank())) {
      return List.of();
    }
    JsonNode tools =
        value.isTextual() ? RowJson.parse(value.textValue(), "\"" + FIELD + "\"") : value;
    if (!tools.isArray()) {
      throw row.bad(FIELD, "must be a list of tools, or the JSON of one");
    }
    List<Object> declared = new ArrayList<>();
    for (JsonNode each : tools) {
      boolean bare = !each.path(FUNCTION).isObject();
      if (!(bare ? each : each.path(FUNCTION)).path("name").isTextual()) {
        throw row.bad(FIELD, "must be a list of tools with a function's name");
      }
      declared.add(bare ? wrapped(RowJson.plain(each)) : RowJson.plain(each));
    }
    return declared;
  }

  private static Map<String, Object> wrapped(Object function) {
    Map<String, Object> tool = new LinkedHashMap<>();
    tool.put("type", FUNCTION);
    tool.put(FUNCTION, function);
    return tool;
  }
}
