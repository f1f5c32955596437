package io.troupe.tasks;

import io.troupe.core.prompt.DataRow;
import io.troupe.tasks.rows.RefusalLimit;
import io.troupe.tasks.rows.RefusedRows;
import io.troupe.tasks.rows.Row;
import io.troupe.tasks.rows.RowColumns;
import io.troupe.tasks.rows.RowException;
import io.troupe.tasks.rows.RowFiles;
import io.troupe.tasks.rows.TaskDataException;
import io.troupe.tasks.rows.ValueText;
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
import java.util.function.Predicate;

/**
 * The items of data files with the texts of their prompts, and the rows that are no items.
 *
 * @param skipped ids of rows that are no items, by the missing part
 * @param refused the rows that break a rule, and the number of all rows
 */
record RowItems(List<WordedItem> worded, Map<String, List<String>> skipped, RefusedRows refused) {
  /**
   * An item.
   *
   * @param text of its prompt
   * @param row the row that it was made of, where its verifier reads that
   */
  record WordedItem(DataItem item, String text, DataRow row) {}

  /** A row's own limit of the tokens of a completion. */
  private static final String LIMIT = "max_completion_tokens";

  /** Returns items that are in no file. */
  static RowItems of(List<DataItem> items, PromptTemplate wording) {
    List<WordedItem> worded = new ArrayList<>();
    for (DataItem item : items) {
      try {
        worded.add(new WordedItem(item, wording.text(item), DataRow.NONE));
      } catch (RowException bad) {
        throw new TaskDataException("%s: %s".formatted(item.id(), bad.getMessage()));
      }
    }
    return new RowItems(worded, Map.of(), new RefusedRows(items.size(), List.of()));
  }

  /** Returns the items alone. */
  List<DataItem> items() {
    return worded.stream().map(WordedItem::item).toList();
  }

  /** Returns the number of rows. */
  int rows() {
    return refused.rows();
  }

  /**
   * Reads files, one after the other.
   *
   * @param keeping whether the row of an item is kept
   * @throws TaskDataException if more rows than the limit allows are bad, have the id of another
   *     row, or cannot be shown to the policy
   */
  static RowItems read(
      List<Path> files,
      RowFormat format,
      PromptTemplate wording,
      RefusalLimit limit,
      Predicate<DataItem> keeping)
      throws IOException {
    List<WordedItem> items = new ArrayList<>();
    Map<String, List<String>> skipped = new TreeMap<>();
    Map<String, String> places = new HashMap<>();
    RefusedRows refused =
        RowFiles.read(
            files,
            limit,
            row -> {
              switch (format.read(row)) {
                case RowOutcome.Skipped(String id, String lacks) ->
                    skipped.computeIfAbsent(lacks, _ -> new ArrayList<>()).add(id);
                case RowOutcome.Taken(DataItem item) -> {
                  DataItem whole = withPrompts(item, row);
                  String text = wording.text(whole);
                  refuseTwice(item, row, places);
                  items.add(
                      new WordedItem(
                          whole,
                          text,
                          keeping.test(item) ? RowColumns.of(row.fields()) : DataRow.NONE));
                }
              }
            });
    return new RowItems(items, skipped, refused);
  }

  private static void refuseTwice(DataItem item, Row row, Map<String, String> places)
      throws RowException {
    String earlier = places.putIfAbsent(item.id(), row.place());
    if (earlier != null) {
      throw new RowException("ids must not occur twice", item.id(), earlier + " has it too");
    }
  }

  private static DataItem withPrompts(DataItem item, Row row) throws RowException {
    return item.worded(
        row.textOrEmpty("system_prompt"), row.textOrEmpty("assistant_prefix"), limit(row));
  }

  private static int limit(Row row) throws RowException {
    String tokens = ValueText.of(row.at(LIMIT)).map(String::strip).orElse("");
    if (tokens.isEmpty() && !row.at(LIMIT).isContainerNode()) {
      return 0; // an empty cell of a table
    }
    if (!tokens.matches("[1-9][0-9]{0,8}")) {
      throw row.bad(LIMIT, "must be a whole number of tokens, 1 or more");
    }
    return Integer.parseInt(tokens);
  }

  /** Returns the values of a facet, each once, in order. */
  List<String> values(String facet) {
    return worded.stream()
        .map(each -> each.item().facets().getOrDefault(facet, ""))
        .filter(value -> !value.isEmpty())
        .distinct()
        .sorted()
        .toList();
  }
}
