package io.troupe.tasks.rows;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.core.prompt.DataRow;
import io.troupe.tasks.columns.CellJson;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Makes the {@link DataRow} of a row: all columns in their order, whether the task reads them or
 * not. A column without a JSON form, and one that would make the row longer than {@link #LONGEST},
 * is left out by name, because it may be one that no verifier reads.
 */
public final class RowColumns {
  /** Most characters of a row's JSON. */
  static final int LONGEST = 1 << 20;

  private RowColumns() {}

  /** Returns the columns of a row. */
  public static DataRow of(ObjectNode fields) {
    StringBuilder json = new StringBuilder("{");
    List<String> leftOut = new ArrayList<>();
    for (Map.Entry<String, JsonNode> column : fields.properties()) {
      String name = CellJson.text(column.getKey());
      String value = CellJson.text(column.getValue()).orElse("");
      if (value.isEmpty() || json.length() + name.length() + value.length() + 3 > LONGEST) {
        leftOut.add(column.getKey());
      } else {
        json.append(json.length() == 1 ? "" : ",").append(name).append(':').append(value);
      }
    }
    return new DataRow(json.append('}').toString(), leftOut);
  }
}
