package io.troupe.cli.ops;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import io.troupe.base.text.SafeText;
import io.troupe.cli.ops.TextTable.Column;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** The screen of {@code troupe top}: the run, its nodes and workers, and its busiest actors. */
final class TopScreen {
  private static final double GIB = 1L << 30;

  private final int columns;
  private final int rows;

  /** For a terminal of that size. */
  TopScreen(int columns, int rows) {
    this.columns = columns;
    this.rows = rows;
  }

  /**
   * The lines of one picture, never more nor longer than fit.
   *
   * @param run answer of {@code /run}; the others likewise
   */
  List<String> of(JsonNode run, JsonNode nodes, JsonNode waits, JsonNode actors) {
    List<String> lines = new ArrayList<>(StatusText.of(run).lines().toList());
    lines.add("");
    lines.add(SafeText.of(waits.path("root").asText()));
    lines.add("");
    // Nodes get at most half of what is left: the actors below show why a node is slow.
    int room = Math.max(0, rows - lines.size() - 1);
    List<String> machines = machines(nodes);
    add(lines, machines, Math.max(room / 2, room - actors.size() - 2));
    lines.add("");
    add(lines, actors(actors), rows - lines.size());
    return lines.stream().limit(rows).map(this::cut).toList();
  }

  private static List<String> machines(JsonNode nodes) {
    List<String> lines = new ArrayList<>();
    for (JsonNode node : nodes) {
      lines.add(SafeText.of(node.path("node").asText()) + gauges(node.path("gauges")));
      JsonNode workers = present(node.path("workers"));
      if (!workers.isEmpty()) {
        new TextTable(
                List.of(
                    Column.text("  worker", "worker"),
                    Column.number("version", "version"),
                    Column.number("behind", "behind"),
                    Column.number("holds", "holds"),
                    Column.number("answered", "answered"),
                    Column.number("tokens", "tokens")))
            .of(workers)
            .lines()
            .forEach(lines::add);
      }
    }
    return lines;
  }

  private static String gauges(JsonNode gauges) {
    return gauges.isEmpty()
        ? ""
        : String.format(
            Locale.ROOT,
            "   CPU %.0f%% of %.0f cores (machine %.0f%%)   heap %.2f of %.2f GiB   memory"
                + " %.1f of %.1f GiB free   %.0f threads",
            100 * gauges.path("process_cpu_share").asDouble(),
            gauges.path("cores").asDouble(),
            100 * gauges.path("machine_cpu_share").asDouble(),
            gauges.path("heap_used_bytes").asDouble() / GIB,
            gauges.path("heap_max_bytes").asDouble() / GIB,
            gauges.path("machine_memory_free_bytes").asDouble() / GIB,
            gauges.path("machine_memory_bytes").asDouble() / GIB,
            gauges.path("threads").asDouble());
  }

  private static JsonNode present(JsonNode workers) {
    ArrayNode present = ConsoleClient.JSON.createArrayNode();
    workers.forEach(
        worker -> {
          if (worker.path("present").asBoolean()) {
            present.add(worker);
          }
        });
    return present;
  }

  private static List<String> actors(JsonNode actors) {
    List<JsonNode> busiest = new ArrayList<>();
    actors.forEach(busiest::add);
    busiest.sort(
        Comparator.<JsonNode>comparingInt(row -> -row.path("depth").asInt())
            .thenComparingDouble(row -> -row.path("per_second").asDouble()));
    ArrayNode rows = ConsoleClient.JSON.createArrayNode();
    rows.addAll(busiest);
    return InspectCommands.Actors.TABLE.of(rows).lines().toList();
  }

  private static void add(List<String> to, List<String> lines, int room) {
    if (lines.size() <= room) {
      to.addAll(lines);
    } else if (room > 0) {
      to.addAll(lines.subList(0, room - 1));
      to.add("… %d more".formatted(lines.size() - room + 1));
    }
  }

  private String cut(String line) {
    return line.length() <= columns ? line : line.substring(0, Math.max(0, columns - 1)) + "…";
  }
}
