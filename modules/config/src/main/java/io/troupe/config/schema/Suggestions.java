package io.troupe.config.schema;

import io.troupe.base.text.NearWords;
import java.util.ArrayList;
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
    List<String> elsewhere = paths(root);
    Optional<String> near = NearWords.nearest(word, known);
    Optional<String> moved =
        elsewhere.stream()
            .filter(each -> each.endsWith("." + word) && !each.equals(full))
            .findFirst();
    Optional<String> other =
        OtherNames.keys(word).stream()
            .filter(each -> elsewhere.contains(each) && !each.equals(full))
            .findFirst();
    if (other.isPresent()) {
      return "it is %s here".formatted(other.get());
    }
    if (near.isPresent()) {
      return "did you mean " + near.get() + "?";
    }
    return moved
        .map(each -> "did you mean " + each + "?")
        .orElseGet(() -> "remove it, or choose from " + String.join(", ", known));
  }

  /** Returns the paths of all keys below a schema. */
  static List<String> paths(Schema root) {
    List<String> paths = new ArrayList<>();
    collect(root, "", paths);
    return paths;
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
}
