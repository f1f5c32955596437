package io.troupe.gym.data;

import io.troupe.gym.item.GymItem;
import io.troupe.tasks.rows.TaskDataException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** Holds the parts of a task apart: no item is in two of them, neither by id nor by its text. */
final class HeldApart {
  private static final int NAMED = 10;

  private HeldApart() {}

  /** Returns a text without what does not make it another question: case and white space. */
  static String normal(String prompt) {
    return prompt.strip().toLowerCase(Locale.ROOT).replaceAll("\\s+", " ");
  }

  /**
   * Refuses parts that share an item.
   *
   * @param parts by their key in the configuration
   * @throws TaskDataException naming both keys and the ids
   */
  static void require(Map<String, List<GymItem>> parts) {
    Map<String, String> idsOf = new HashMap<>();
    Map<String, String> textsOf = new HashMap<>();
    for (Map.Entry<String, List<GymItem>> part : parts.entrySet()) {
      Map<String, List<String>> shared = new HashMap<>();
      for (GymItem item : part.getValue()) {
        String other = idsOf.putIfAbsent(item.id(), part.getKey());
        String same = textsOf.putIfAbsent(normal(item.prompt()), part.getKey());
        if (other != null) {
          shared.computeIfAbsent(other, _ -> new ArrayList<>()).add(item.id());
        } else if (same != null && !same.equals(part.getKey())) {
          shared.computeIfAbsent(same, _ -> new ArrayList<>()).add(item.id() + " (by its text)");
        }
      }
      for (Map.Entry<String, List<String>> each : shared.entrySet()) {
        throw new TaskDataException(
            "task.%s and task.%s must be held apart, and share %d items: %s%s; take other rows, splits or files for one of them"
                .formatted(
                    each.getKey(),
                    part.getKey(),
                    each.getValue().size(),
                    each.getValue().stream().limit(NAMED).collect(Collectors.joining(", ")),
                    each.getValue().size() > NAMED ? " …" : ""));
      }
    }
  }
}
