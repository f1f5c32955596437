package io.troupe.tasks;

import io.troupe.tasks.rows.Row;
import io.troupe.tasks.rows.RowException;
import io.troupe.tasks.rows.RowFiles;
import io.troupe.tasks.sets.DataItem;
import io.troupe.tasks.sets.RowFormat;
import io.troupe.tasks.sets.RowOutcome;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The items of data files, and the rows that are no items.
 *
 * @param rows number of rows
 * @param skipped ids of rows that are no items, by the missing part
 */
record RowItems(List<DataItem> items, int rows, Map<String, List<String>> skipped) {
  /** A row's own limit of the tokens of a completion. */
  private static final String LIMIT = "max_completion_tokens";

  static RowItems of(List<DataItem> items) {
    return new RowItems(items, items.size(), Map.of());
  }

  /**
   * Reads files, one after the other.
   *
   * @throws io.troupe.tasks.rows.TaskDataException if a row is bad, or has the id of another row
   */
  static RowItems read(List<Path> files, RowFormat format) throws IOException {
    List<DataItem> items = new ArrayList<>();
    Map<String, List<String>> skipped = new TreeMap<>();
    Map<String, String> places = new HashMap<>();
    int[] rows = {0};
    RowFiles.read(
        files,
        row -> {
          rows[0]++;
          switch (format.read(row)) {
            case RowOutcome.Skipped(String id, String lacks) ->
                skipped.computeIfAbsent(lacks, _ -> new ArrayList<>()).add(id);
            case RowOutcome.Taken(DataItem item) -> {
              refuseTwice(item, row, places);
              items.add(withPrompts(item, row));
            }
          }
        });
    return new RowItems(items, rows[0], skipped);
  }

  private static void refuseTwice(DataItem item, Row row, Map<String, String> places)
      throws RowException {
    String earlier = places.putIfAbsent(item.id(), row.place());
    if (earlier != null) {
      throw new RowException("ids are unique, but %s has it too".formatted(earlier), item.id());
    }
  }

  private static DataItem withPrompts(DataItem item, Row row) throws RowException {
    return item.worded(
        row.textOrEmpty("system_prompt"), row.textOrEmpty("assistant_prefix"), limit(row));
  }

  private static int limit(Row row) throws RowException {
    if (!row.has(LIMIT)) {
      return 0;
    }
    int tokens = row.fields().path(LIMIT).asInt();
    if (!row.fields().path(LIMIT).isIntegralNumber() || tokens < 1) {
      throw row.bad(LIMIT, "must be a whole number of tokens, 1 or more");
    }
    return tokens;
  }

  /** Returns the values of a facet, each once, in order. */
  List<String> values(String facet) {
    return items.stream()
        .map(item -> item.facets().getOrDefault(facet, ""))
        .filter(value -> !value.isEmpty())
        .distinct()
        .sorted()
        .toList();
  }
}
