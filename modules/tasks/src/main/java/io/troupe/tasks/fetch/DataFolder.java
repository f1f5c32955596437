package io.troupe.tasks.fetch;

import io.troupe.base.files.FileTree;
import io.troupe.tasks.rows.TaskDataException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * Chooses the files of a split in a folder, as the hub or its {@code datasets} library lays it out:
 * by the README's configurations, by {@code save_to_disk}, or by the names of the files.
 */
public final class DataFolder {
  private DataFolder() {}

  /** Whether a file holds rows, according to its name. */
  public static boolean hasRows(String name) {
    return FileKinds.hasRows(name);
  }

  /**
   * Returns the files of a split, in the order of their rows. If the place is a file, it is
   * returned for every split.
   *
   * @param subset configuration or folder; empty means the usual one
   * @throws TaskDataException if the place does not exist or lacks the split or the subset; the
   *     message lists what exists
   */
  public static List<Path> files(Path place, String subset, String split) throws IOException {
    return Files.isDirectory(place)
        ? resolved(place, layout(place), subset, split)
        : List.of(place);
  }

  /**
   * Returns the files of a split in a folder of the {@link DataCache}, which holds this split
   * alone; its files need not lie in the folder of the subset.
   */
  public static List<Path> cached(Path folder, String subset, String split) throws IOException {
    DataLayout layout = layout(folder);
    if (layout.names().stream().allMatch(name -> name.startsWith(split + "/") || isMarker(name))) {
      Map<String, List<String>> within = layout.named(split + "/");
      if (within.size() == 1) {
        return within.values().iterator().next().stream().map(folder::resolve).toList();
      }
    }
    return resolved(folder, layout, layout.has(subset) ? subset : "", split);
  }

  private static boolean isMarker(String name) {
    return name.startsWith(".");
  }

  private static DataLayout layout(Path place) throws IOException {
    List<String> names =
        FileTree.files(place).stream()
            .map(file -> place.relativize(file).toString().replace('\\', '/'))
            .toList();
    return new DataLayout(place.toString(), names, name -> Files.readString(place.resolve(name)));
  }

  private static List<Path> resolved(Path place, DataLayout layout, String subset, String split)
      throws IOException {
    Map<String, List<String>> splits = layout.splits(subset);
    if (!splits.containsKey(split)) {
      throw new TaskDataException(
          "%s: the folder has no data file of split %s%s; it has %s"
              .formatted(
                  place,
                  split,
                  subset.isEmpty() ? "" : " under " + subset,
                  described(layout.names(), splits)));
    }
    return splits.get(split).stream().map(place::resolve).toList();
  }

  /** Returns the content of a folder, where something else was asked for. */
  private static String described(List<String> names, Map<String, List<String>> splits) {
    List<String> data = names.stream().filter(FileKinds::hasRows).toList();
    if (data.isEmpty()) {
      return "none at all (.parquet, .arrow, .json, .jsonl, .ndjson, .csv, .tsv, texts also as .gz"
          + " and .zst)";
    }
    boolean unnamed =
        splits.containsKey("train")
            && splits.get("train").stream().noneMatch(name -> name.contains("train"));
    return unnamed
        ? "%s, named after no split, which counts as train; give the path of the file itself, which serves any split"
            .formatted(data.size() == 1 ? data.getFirst() : data.size() + " data files")
        : "the splits " + new TreeSet<>(splits.keySet());
  }
}
