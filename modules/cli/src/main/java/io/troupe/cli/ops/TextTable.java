package io.troupe.cli.ops;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.base.text.SafeText;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** Rows of JSON as columns of text, as wide as they need to be. */
final class TextTable {
  /** A column. */
  record Column(String name, boolean number, Function<JsonNode, String> of) {
    static Column text(String name, String field) {
      return new Column(name, false, row -> SafeText.of(row.path(field).asText("")));
    }

    /** A number that is below zero where there is none yet. */
    static Column count(String name, String field) {
      return new Column(
          name, true, row -> row.path(field).asLong(-1) < 0 ? "–" : row.path(field).asText());
    }

    static Column number(String name, String field) {
      return new Column(name, true, row -> row.path(field).asText("–"));
    }
  }

  private final List<Column> columns;

  TextTable(List<Column> columns) {
    this.columns = columns;
  }

  String of(JsonNode rows) {
    List<List<String>> cells = new ArrayList<>();
    cells.add(columns.stream().map(Column::name).toList());
    rows.forEach(row -> cells.add(columns.stream().map(column -> column.of().apply(row)).toList()));
    StringBuilder text = new StringBuilder();
    for (List<String> line : cells) {
      StringBuilder out = new StringBuilder();
      for (int i = 0; i < columns.size(); i++) {
        String cell = line.get(i);
        int place = i;
        int width = cells.stream().mapToInt(each -> each.get(place).length()).max().orElse(0);
        String padding = " ".repeat(width - cell.length());
        out.append(i == 0 ? "" : "  ");
        out.append(columns.get(i).number() ? padding + cell : cell + padding);
      }
      text.append(out.toString().stripTrailing()).append('\n');
    }
    return text.toString();
  }
}
