package io.troupe.tasks;

import io.troupe.tasks.rows.BadRow;
import io.troupe.tasks.rows.Row;
import io.troupe.tasks.rows.RowFiles;
import io.troupe.tasks.sets.Item;
import io.troupe.tasks.sets.Reading;
import io.troupe.tasks.sets.RowFormat;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Everything that data files hold.
 *
 * @param rows how many there are
 * @param skipped ids of rows that are no items, by what they lack
 */
record RowItems(List<Item> items, int rows, Map<String, List<String>> skipped) {
  static RowItems of(List<Item> items) {
    return new RowItems(items, items.size(), Map.of());
  }

  /**
   * Reads files, one after the other.
   *
   * @throws BadTaskData if a row is bad, or has the id of another
   */
  static RowItems read(List<Path> files, RowFormat format) throws IOException {
    List<Item> items = new ArrayList<>();
    Map<String, List<String>> skipped = new TreeMap<>();
    Map<String, String> places = new HashMap<>();
    int[] rows = {0};
    RowFiles.read(
        files,
        row -> {
          rows[0]++;
          switch (format.read(row)) {
            case Reading.Skipped(String id, String lacks) ->
                skipped.computeIfAbsent(lacks, _ -> new ArrayList<>()).add(id);
            case Reading.Taken(Item item) -> {
              refuseTwice(item, row, places);
              items.add(worded(item, row));
            }
          }
        });
    return new RowItems(items, rows[0], skipped);
  }

  private static void refuseTwice(Item item, Row row, Map<String, String> places) throws BadRow {
    String earlier = places.putIfAbsent(item.id(), row.place());
    if (earlier != null) {
      throw new BadRow("ids are unique, but %s has it too".formatted(earlier), item.id());
    }
  }

  private static Item worded(Item item, Row row) throws BadRow {
    return item.worded(row.textOrEmpty("system_prompt"), row.textOrEmpty("assistant_prefix"));
  }

  /** The values of a facet, each once, in order. */
  List<String> values(String facet) {
    return items.stream()
        .map(item -> item.facets().getOrDefault(facet, ""))
        .filter(value -> !value.isEmpty())
        .distinct()
        .sorted()
        .toList();
  }
}
