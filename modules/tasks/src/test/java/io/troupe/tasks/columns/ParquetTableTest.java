package io.troupe.tasks.columns;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.tasks.columns.ParquetTable.CellKind;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Rows written are the rows that are read, whole or not at all. */
final class ParquetTableTest {
  private static final Map<String, CellKind> COLUMNS = new LinkedHashMap<>();

  static {
    COLUMNS.put("text", CellKind.TEXT);
    COLUMNS.put("step", CellKind.INTEGER);
    COLUMNS.put("reward", CellKind.NUMBER);
    COLUMNS.put("cut", CellKind.FLAG);
    COLUMNS.put("ids", CellKind.INTEGERS);
    COLUMNS.put("log_probs", CellKind.NUMBERS);
  }

  @TempDir private Path folder;

  @Test
  void write_rowsOfEveryKind_areReadAsTheyWere() throws IOException {
    Path file = folder.resolve("rows.parquet");
    ParquetTable.write(
        file,
        COLUMNS,
        table -> {
          table.row(
              Map.of(
                  "text",
                  "a\u0000\n𝄞",
                  "step",
                  Long.MAX_VALUE,
                  "reward",
                  -0.1,
                  "cut",
                  true,
                  "ids",
                  new int[] {0, -1, Integer.MAX_VALUE},
                  "log_probs",
                  new float[] {-0.1f, Float.MIN_VALUE}));
          table.row(Map.of("text", "", "ids", new int[0], "step", 3, "unknown", "left out"));
          table.row(Map.of());
        });

    List<ObjectNode> rows = new ArrayList<>();
    ParquetRows.read(file, (_, row) -> rows.add(row));
    ObjectMapper json = new ObjectMapper();
    assertThat(rows)
        .extracting(ObjectNode::toString)
        .containsExactly(
            """
            {"text":%s,"step":9223372036854775807,"reward":-0.1,"cut":true,"ids":[0,-1,2147483647],"log_probs":[-0.1,1.4E-45]}"""
                .formatted(json.writeValueAsString("a\u0000\n𝄞")),
            """
            {"text":"","step":3,"reward":null,"cut":null,"ids":[],"log_probs":null}""",
            """
            {"text":null,"step":null,"reward":null,"cut":null,"ids":null,"log_probs":null}""");
  }

  @Test
  void write_thatFails_leavesTheFileThatWasThere() throws IOException {
    Path file = Files.writeString(folder.resolve("rows.parquet"), "former");

    assertThatThrownBy(
            () ->
                ParquetTable.write(
                    file,
                    COLUMNS,
                    table -> {
                      table.row(Map.of("text", "lost"));
                      throw new UncheckedIOException(new IOException("unreadable"));
                    }))
        .isInstanceOf(IOException.class)
        .hasMessage("unreadable");

    assertThat(file).hasContent("former");
    try (var files = Files.list(folder)) {
      assertThat(files).containsExactly(file);
    }
  }
}
