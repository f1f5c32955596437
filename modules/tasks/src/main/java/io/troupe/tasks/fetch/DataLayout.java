package io.troupe.tasks.fetch;

import io.troupe.tasks.rows.TaskDataException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The splits of a data set according to the names of its files, its README, and what {@code
 * save_to_disk} wrote.
 *
 * @param place of the data set, for messages
 * @param names of all its files, with slashes, relative to the place
 * @param texts the content of the small ones among them
 */
record DataLayout(String place, List<String> names, Texts texts) {
  /** The subset that means all configurations together. */
  static final String ALL = "*";

  /** The content of small files. */
  @FunctionalInterface
  interface Texts {
    /** Returns the text of a file that exists. */
    String of(String name) throws IOException;
  }

  DataLayout {
    names = names.stream().sorted().toList();
  }

  /**
   * Returns the files of each split.
   *
   * @param subset a configuration of the README or a folder; {@link #ALL} means all; empty means
   *     the usual one
   * @throws TaskDataException if there is no such subset, or several and none is named
   */
  Map<String, List<String>> splits(String subset) throws IOException {
    String name = subset.replaceAll("/+$", "");
    DatasetCard card = DatasetCard.of(place, text(DatasetCard.FILE));
    if (card.configs().containsKey(name)) {
      return splits(card.configs().get(name));
    }
    if (!name.isEmpty() && !name.equals(ALL)) {
      if (names.stream().noneMatch(file -> file.startsWith(name + "/"))) {
        throw new TaskDataException(
            "%s: the data set has no configuration and no folder \"%s\"; it has %s"
                .formatted(place, name, subsets(card)));
      }
      return named(name + "/");
    }
    if (card.configs().isEmpty()) {
      return named("");
    }
    if (name.equals(ALL)) {
      Map<String, List<String>> all = new LinkedHashMap<>();
      for (DatasetCard.Config each : card.configs().values()) {
        splits(each)
            .forEach(
                (split, files) -> all.computeIfAbsent(split, _ -> new ArrayList<>()).addAll(files));
      }
      return all;
    }
    Optional<DatasetCard.Config> usual = card.usual();
    if (usual.isEmpty()) {
      throw new TaskDataException(
          "%s: the data set has the configurations %s; name one as subset, or \"*\" for all of them"
              .formatted(place, card.configs().keySet()));
    }
    return splits(usual.get());
  }

  /** Whether the files lie below a folder of this name, or a configuration has it. */
  boolean has(String subset) throws IOException {
    String name = subset.replaceAll("/+$", "");
    return name.isEmpty()
        || name.equals(ALL)
        || DatasetCard.of(place, text(DatasetCard.FILE)).configs().containsKey(name)
        || names.stream().anyMatch(file -> file.startsWith(name + "/"));
  }

  private String subsets(DatasetCard card) {
    if (!card.configs().isEmpty()) {
      return "the configurations " + card.configs().keySet();
    }
    List<String> folders =
        names.stream()
            .filter(name -> name.contains("/") && !name.startsWith("."))
            .map(name -> name.substring(0, name.indexOf('/')))
            .distinct()
            .toList();
    return folders.isEmpty() ? "none" : "the folders " + folders;
  }

  private String text(String name) throws IOException {
    return names.contains(name) ? texts.of(name) : "";
  }

  private Map<String, List<String>> splits(DatasetCard.Config config) throws IOException {
    if (config.files().isEmpty()) {
      return named(config.folder());
    }
    Map<String, List<String>> splits = new LinkedHashMap<>();
    for (Map.Entry<String, List<String>> split : config.files().entrySet()) {
      List<String> files = new ArrayList<>();
      for (String path : split.getValue()) {
        Glob glob = new Glob(config.folder() + path);
        List<String> matching = names.stream().filter(glob::matches).toList();
        if (matching.isEmpty() && !glob.isMagic()) {
          throw new TaskDataException(
              "%s: README.md names the file %s, which is not there; fetch the whole data set again"
                  .formatted(place, glob));
        }
        matching.stream()
            .filter(file -> FileKinds.hasRows(file) && !files.contains(file))
            .forEach(files::add);
      }
      if (!files.isEmpty()) {
        splits.put(split.getKey(), files);
      }
    }
    return splits;
  }

  /** Returns the splits of the files below a folder, by their names or as they were saved. */
  Map<String, List<String>> named(String folder) throws IOException {
    if (names.contains(folder + SavedDataSet.SPLITS)) {
      Map<String, List<String>> splits = new LinkedHashMap<>();
      for (String split : SavedDataSet.splits(place, texts.of(folder + SavedDataSet.SPLITS))) {
        if (!names.contains(folder + split + "/" + SavedDataSet.STATE)) {
          throw new TaskDataException(
              "%s: %s lists the split %s, which is not there; copy or save the whole folder again"
                  .formatted(place, SavedDataSet.SPLITS, split));
        }
        splits.put(split, saved(folder + split + "/").files());
      }
      return splits;
    }
    if (isSaved(folder)) {
      SavedDataSet saved = saved(folder);
      return Map.of(saved.split().isEmpty() ? "train" : saved.split(), saved.files());
    }
    List<String> below = new ArrayList<>();
    for (String name : below(folder, names)) {
      String within = folder + name.substring(0, name.lastIndexOf('/') + 1);
      if (!isSaved(within) || saved(within).files().contains(folder + name)) {
        below.add(name);
      }
    }
    Map<String, List<String>> splits = new LinkedHashMap<>();
    SplitRules.splits(place, below)
        .forEach((split, files) -> splits.put(split, files.stream().map(folder::concat).toList()));
    return splits;
  }

  /** Other programs have a file of that name too. */
  private boolean isSaved(String folder) throws IOException {
    return text(folder + SavedDataSet.STATE).contains("\"_data_files\"");
  }

  private SavedDataSet saved(String folder) throws IOException {
    SavedDataSet saved =
        SavedDataSet.of(
            folder.isEmpty() ? place : place + "/" + folder.substring(0, folder.length() - 1),
            texts.of(folder + SavedDataSet.STATE),
            text(folder + SavedDataSet.INFO),
            below(folder, names));
    return new SavedDataSet(saved.split(), saved.files().stream().map(folder::concat).toList());
  }

  private static List<String> below(String folder, List<String> names) {
    return names.stream()
        .filter(name -> name.startsWith(folder))
        .map(name -> name.substring(folder.length()))
        .toList();
  }
}
