package io.troupe.config.schema;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** Suggestions of the key that a person may have meant by an unknown one. */
public final class Suggestions {
  private Suggestions() {}

  /**
   * Advice for the unknown {@code word} in the section at {@code path}, of which {@code known} are
   * the keys.
   */
  public static String advice(String word, String path, List<String> known, Schema root) {
    String full = Schema.join(path, word);
    List<String> elsewhere = new ArrayList<>();
    collect(root, "", elsewhere);
    Optional<String> near =
        known.stream()
            .filter(each -> distance(word, each) <= Math.max(2, word.length() / 3))
            .min(Comparator.comparingInt(each -> distance(word, each)));
    Optional<String> moved =
        elsewhere.stream()
            .filter(each -> each.endsWith("." + word) && !each.equals(full))
            .findFirst();
    if (near.isPresent()) {
      return "did you mean " + near.get() + "?";
    }
    return moved
        .map(each -> "did you mean " + each + "?")
        .orElseGet(() -> "remove it, or choose from " + String.join(", ", known));
  }

  private static void collect(Schema schema, String path, List<String> paths) {
    switch (schema) {
      case Schema.Section section ->
          section
              .keys()
              .forEach(
                  key -> {
                    paths.add(Schema.join(path, key.name()));
                    collect(key.schema(), Schema.join(path, key.name()), paths);
                  });
      case Schema.Choice choice ->
          choice.alternatives().forEach(each -> collect(each.section(), path, paths));
      case Schema.Row _, Schema.Value _ -> {}
    }
  }

  /** Edits (insert, delete, replace) from one word to the other: Levenshtein 1966. */
  static int distance(String from, String to) {
    int[] row = new int[to.length() + 1];
    for (int j = 0; j <= to.length(); j++) {
      row[j] = j;
    }
    for (int i = 1; i <= from.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= to.length(); j++) {
        int replaced = diagonal + (from.charAt(i - 1) == to.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(replaced, 1 + Math.min(row[j], row[j - 1]));
      }
    }
    return row[to.length()];
  }
}
