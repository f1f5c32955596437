package io.troupe.tracking.feed;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.core.rollout.GroupId;
import io.troupe.store.file.StoreJson;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The rollouts of groups, looked up in {@code traces/rollouts.jsonl} and the file before it. A
 * group is searched for from where the first one of the last search was: rollouts are written about
 * in the order in which steps train on them.
 */
final class RolloutFiles {
  private static final int LINES = 16;
  private static final int LONGEST_CELL = 4_000;

  private final Path folder;
  private long from;

  RolloutFiles(Path folder) {
    this.folder = folder;
  }

  /**
   * Rows of a table.
   *
   * @param most rows; those of the first groups
   */
  List<List<Object>> rows(long step, List<GroupId> groups, int most) throws IOException {
    Map<Long, JsonNode> found = new HashMap<>();
    List<GroupId> wanted = groups.subList(0, Math.min(most, groups.size()));
    search(new GrowingLines(folder.resolve("rollouts.1.jsonl"), 0), wanted, found);
    GrowingLines newest = new GrowingLines(folder.resolve("rollouts.jsonl"), from);
    from = search(newest, wanted, found);
    List<List<Object>> rows = new ArrayList<>();
    for (GroupId group : wanted) {
      JsonNode line = found.get(group.number());
      if (line != null) {
        addRows(rows, step, line, most);
      }
    }
    return rows;
  }

  private static long search(GrowingLines lines, List<GroupId> wanted, Map<Long, JsonNode> found)
      throws IOException {
    long first = -1;
    long before = lines.offset();
    for (List<String> some = lines.next(LINES); !some.isEmpty(); some = lines.next(LINES)) {
      for (String line : some) {
        if (wanted.stream().anyMatch(group -> line.contains(key(group)))) {
          JsonNode rollout = StoreJson.LINE.readTree(line);
          found.put(rollout.path("group").asLong(), rollout);
          first = first < 0 ? before : first;
        }
      }
      before = lines.offset();
    }
    return first < 0 ? lines.offset() : first;
  }

  private static String key(GroupId group) {
    return "\"group\":%d,".formatted(group.number());
  }

  private static void addRows(List<List<Object>> rows, long step, JsonNode line, int most) {
    JsonNode completions = line.path("completions");
    for (int i = 0; i < completions.size() && rows.size() < most; i++) {
      JsonNode reward = line.path("rewards").path(i);
      rows.add(
          List.of(
              step,
              line.path("group").asLong(),
              line.path("prompt_id").asText(),
              cell(line.path("prompt").asText()),
              cell(text(completions.get(i))),
              reward.isNumber() ? reward.asDouble() : "",
              cell(text(line.path("verdicts").path(i)))));
    }
  }

  private static String text(JsonNode value) {
    return value.isValueNode() ? value.asText() : value.toString();
  }

  private static String cell(String text) {
    return text.length() <= LONGEST_CELL ? text : text.substring(0, LONGEST_CELL - 1) + "…";
  }
}
