package io.troupe.cli.eval;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import io.troupe.evaluation.EvaluationFolder;
import io.troupe.evaluation.SummaryWriter;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SortedSet;
import java.util.TreeSet;

/** The scores of an evaluation as text, of what is judged so far. */
final class EvalTable {
  private static final int MOST_GROUPS = 20;

  private final EvaluationFolder folder;

  EvalTable(EvaluationFolder folder) {
    this.folder = folder;
  }

  String text(boolean json) throws IOException {
    ArrayNode tasks = new SummaryWriter(folder).tasks();
    return json ? tasks.toPrettyString() + "\n" : table(tasks);
  }

  static String table(JsonNode tasks) {
    SortedSet<Integer> ks = new TreeSet<>();
    tasks.forEach(
        task -> task.path("pass").fieldNames().forEachRemaining(k -> ks.add(Integer.valueOf(k))));
    List<List<String>> rows = new ArrayList<>();
    List<String> head = new ArrayList<>(List.of("task", "prompts", "samples", "avg", "95 %"));
    ks.forEach(k -> head.add("pass@" + k));
    head.addAll(List.of("unverifiable", "truncated"));
    rows.add(head);
    for (JsonNode task : tasks) {
      rows.add(row(task.path("task").asText(), task, ks));
      task.path("by")
          .properties()
          .forEach(
              facet -> {
                JsonNode groups = facet.getValue();
                boolean shown =
                    groups.size() > 1
                        && groups.size() <= MOST_GROUPS
                        && !facet.getKey().equals("instruction");
                if (shown) {
                  groups
                      .properties()
                      .forEach(
                          group ->
                              rows.add(
                                  row(
                                      "  %s %s".formatted(facet.getKey(), group.getKey()),
                                      group.getValue(),
                                      ks)));
                }
              });
    }
    return aligned(rows);
  }

  private static List<String> row(String name, JsonNode scores, SortedSet<Integer> ks) {
    List<String> row = new ArrayList<>();
    row.add(name);
    row.add(String.format(Locale.ROOT, "%,d", scores.path("prompts").asLong()));
    row.add(String.format(Locale.ROOT, "%,d", scores.path("samples").asLong()));
    row.add(number(scores.path("avg")));
    JsonNode interval = scores.path("interval");
    row.add(interval.isArray() ? number(interval.path(0)) + "–" + number(interval.path(1)) : "–");
    ks.forEach(k -> row.add(number(scores.path("pass").path(Integer.toString(k)))));
    row.add(scores.path("unverifiable").asText());
    row.add(String.format(Locale.ROOT, "%.1f %%", 100 * scores.path("truncated").asDouble()));
    return row;
  }

  private static String number(JsonNode value) {
    return value.isNumber() ? String.format(Locale.ROOT, "%.3f", value.asDouble()) : "–";
  }

  static String aligned(List<List<String>> rows) {
    StringBuilder text = new StringBuilder();
    for (List<String> row : rows) {
      StringBuilder line = new StringBuilder();
      for (int i = 0; i < row.size(); i++) {
        int column = i;
        int width = rows.stream().mapToInt(each -> each.get(column).length()).max().orElse(0);
        String padding = " ".repeat(width - row.get(i).length());
        line.append(i == 0 ? "" : "  ");
        line.append(i == 0 ? row.get(i) + padding : padding + row.get(i));
      }
      text.append(line.toString().stripTrailing()).append('\n');
    }
    return text.toString();
  }
}
