package io.troupe.tasks.fetch;

import io.troupe.base.files.FileTree;
import io.troupe.tasks.rows.TaskDataException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Chooses the files of a split in a folder as the hub or its {@code datasets} library lay it out:
 * {@code data/train-00000-of-00001.parquet}, {@code main/test.jsonl}, {@code train/data-….arrow}.
 */
public final class DataFolder {
  private static final List<Pattern> FORMS =
      List.of(
          Pattern.compile(".*\\.parquet"),
          Pattern.compile(".*\\.arrow"),
          Pattern.compile(".*\\.jsonl?(\\.gz)?"));

  /** JSON files that hold no rows. */
  private static final Set<String> DESCRIPTIONS =
      Set.of("dataset_info.json", "dataset_infos.json", "dataset_dict.json", "state.json");

  private static final Pattern SPLIT =
      Pattern.compile("(?:^|[/_.-])(train|validation|valid|dev|test|prompt)(?=[/_.-])");

  private DataFolder() {}

  /**
   * Returns the files of a split, in the order of their names. If the place is a file, it is
   * returned for every split.
   *
   * @param subset folder the names begin with; empty means all
   * @throws TaskDataException if the place does not exist or lacks the split; the message lists the
   *     existing files
   */
  public static List<Path> files(Path place, String subset, String split) throws IOException {
    if (!Files.isDirectory(place)) {
      return List.of(place);
    }
    List<String> names = names(place);
    List<String> chosen = choose(names, subset, split);
    if (chosen.isEmpty()) {
      throw new TaskDataException(
          "%s: the folder has no data file of split %s%s; it has %s"
              .formatted(
                  place, split, subset.isEmpty() ? "" : " under " + subset, described(names)));
    }
    return chosen.stream().map(place::resolve).toList();
  }

  /**
   * Returns the names that hold rows of a split, in order. If no name contains the name of a split,
   * all files belong to {@code train}. If the folder holds several formats of the same data, the
   * most compact is chosen.
   */
  static List<String> choose(List<String> names, String subset, String split) {
    List<String> within =
        names.stream()
            .filter(name -> isData(name) && (isUnder(name, subset) || !anyUnder(names, subset)))
            .sorted()
            .toList();
    boolean told = within.stream().anyMatch(name -> !splitOf(name).isEmpty());
    List<String> rows =
        within.stream()
            .filter(name -> told ? splitOf(name).equals(split) : split.equals("train"))
            .toList();
    return FORMS.stream()
        .map(form -> rows.stream().filter(name -> form.matcher(name).matches()).toList())
        .filter(found -> !found.isEmpty())
        .findFirst()
        .orElse(List.of());
  }

  private static boolean isUnder(String name, String subset) {
    return name.startsWith(subset.isEmpty() || subset.endsWith("/") ? subset : subset + "/");
  }

  private static boolean anyUnder(List<String> names, String subset) {
    return names.stream().anyMatch(name -> isData(name) && isUnder(name, subset));
  }

  private static boolean isData(String name) {
    String last = name.substring(name.lastIndexOf('/') + 1);
    return FORMS.stream().anyMatch(form -> form.matcher(last).matches())
        && !DESCRIPTIONS.contains(last)
        && !last.startsWith(".");
  }

  /** Returns the content of a folder, where something else was asked for. */
  private static String described(List<String> names) {
    List<String> data = names.stream().filter(DataFolder::isData).sorted().toList();
    if (data.isEmpty()) {
      return "none at all (.parquet, .arrow, .json, .jsonl, .jsonl.gz)";
    }
    Set<String> splits = splits(data);
    return splits.isEmpty()
        ? "%s, named after no split, which counts as train; give the path of the file itself, which serves any split"
            .formatted(data.size() == 1 ? data.getFirst() : data.size() + " data files")
        : "the splits " + splits;
  }

  private static Set<String> splits(List<String> names) {
    Set<String> splits = new TreeSet<>();
    names.stream().map(DataFolder::splitOf).forEach(splits::add);
    splits.remove("");
    return splits;
  }

  private static String splitOf(String name) {
    Matcher split = SPLIT.matcher(name);
    String last = "";
    while (split.find()) {
      last = split.group(1);
    }
    return last;
  }

  private static List<String> names(Path folder) throws IOException {
    return FileTree.files(folder).stream()
        .map(file -> folder.relativize(file).toString().replace('\\', '/'))
        .toList();
  }
}
