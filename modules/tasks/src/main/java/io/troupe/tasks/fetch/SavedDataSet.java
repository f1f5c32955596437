package io.troupe.tasks.fetch;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.troupe.tasks.rows.TaskDataException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/**
 * A data set as {@code save_to_disk} of the {@code datasets} library leaves it: {@code state.json}
 * lists the files, and whatever else lies there, such as the caches of later maps, holds none of
 * its rows.
 *
 * @param split that was saved; empty if it had no name
 * @param files in the order of their rows, relative to the data set's folder
 */
record SavedDataSet(String split, List<String> files) {
  /** The file that lists the others. */
  static final String STATE = "state.json";

  /** The file that lists the splits of several data sets. */
  static final String SPLITS = "dataset_dict.json";

  /** The file that describes the columns. */
  static final String INFO = "dataset_info.json";

  private static final JsonMapper JSON = new JsonMapper();

  SavedDataSet {
    files = List.copyOf(files);
  }

  /**
   * Returns a saved data set.
   *
   * @param folder for messages
   * @param names of the files that are there
   * @throws TaskDataException if a listed file is missing, or rows or columns are left out by means
   *     that cannot be honoured
   */
  static SavedDataSet of(String folder, String state, String info, Collection<String> names) {
    JsonNode saved = json(folder, STATE, state);
    if (!saved.path("_data_files").isArray()) {
      throw new TaskDataException(
          "%s: %s lists no _data_files, so it is of no data set; save it again"
              .formatted(folder, STATE));
    }
    List<String> files = new ArrayList<>();
    for (JsonNode each : saved.path("_data_files")) {
      String file = each.path("filename").asText();
      if (!names.contains(file)) {
        throw new TaskDataException(
            "%s: %s lists the file %s, which is not there; copy or save the whole folder again"
                .formatted(folder, STATE, file));
      }
      files.add(file);
    }
    if (!saved.path("_indices_files").isEmpty() || !saved.path("_indices_data_files").isEmpty()) {
      throw new TaskDataException(
          "%s: an old version of datasets saved a selection of rows; load and save it with a version"
                  .formatted(folder)
              + " from 2.0");
    }
    refuseHiddenColumns(folder, saved, json(folder, INFO, info));
    String split = saved.path("_split").asText("");
    return new SavedDataSet(
        saved.path("_split").isTextual() && SplitRules.isName(split) ? split : "", files);
  }

  /** A format shows some of the columns only, and the others are in the files nevertheless. */
  private static void refuseHiddenColumns(String folder, JsonNode state, JsonNode info) {
    JsonNode shown = state.path("_format_columns");
    if (!shown.isArray() || state.path("_output_all_columns").asBoolean()) {
      return;
    }
    List<String> columns = new ArrayList<>();
    shown.forEach(column -> columns.add(column.asText()));
    for (var feature : info.path("features").properties()) {
      if (!columns.contains(feature.getKey())) {
        throw new TaskDataException(
            "%s: the data set was saved with a format of the columns %s, which hides \"%s\"; save it"
                    .formatted(folder, columns, feature.getKey())
                + " after reset_format()");
      }
    }
  }

  /** Returns the splits that {@code dataset_dict.json} lists. */
  static List<String> splits(String folder, String dictionary) {
    List<String> splits = new ArrayList<>();
    json(folder, SPLITS, dictionary).path("splits").forEach(split -> splits.add(split.asText()));
    return splits;
  }

  private static JsonNode json(String folder, String file, String text) {
    try {
      return JSON.readTree(text);
    } catch (JsonProcessingException broken) {
      throw new TaskDataException(
          "%s: %s is no JSON (%s); copy or save the folder again"
              .formatted(folder, file, broken.getOriginalMessage()));
    }
  }
}
