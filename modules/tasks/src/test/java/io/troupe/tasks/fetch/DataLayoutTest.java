package io.troupe.tasks.fetch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.troupe.tasks.rows.TaskDataException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The choice of files, compared with what {@code make_layouts.py} had from datasets 5.0.1. */
final class DataLayoutTest {
  private static final Path LAYOUTS =
      Path.of("src/test/resources/io/troupe/tasks/interop/layouts.json");

  @TempDir private Path folder;

  static Stream<JsonNode> layouts() throws IOException {
    return new JsonMapper().readTree(LAYOUTS.toFile()).valueStream();
  }

  private static List<String> texts(JsonNode list) {
    List<String> texts = new ArrayList<>();
    list.forEach(each -> texts.add(each.asText()));
    return texts;
  }

  private static DataLayout layout(List<String> names, JsonNode readme) {
    List<String> all = new ArrayList<>(names);
    if (!readme.isNull()) {
      all.add("README.md");
    }
    return new DataLayout("set", all, _ -> "---\nconfigs:\n" + readme.asText() + "---\n# Card\n");
  }

  private static Map<String, List<String>> expected(JsonNode config) {
    Map<String, List<String>> splits = new LinkedHashMap<>();
    config
        .properties()
        .forEach(
            split ->
                splits.put(split.getKey(), texts(split.getValue()).stream().distinct().toList()));
    return splits;
  }

  private static boolean sharesFiles(Map<String, List<String>> splits) {
    List<String> all = splits.values().stream().flatMap(List::stream).toList();
    return all.stream().distinct().count() < all.size();
  }

  @ParameterizedTest
  @MethodSource("layouts")
  void splits_anyLayout_areThoseOfTheLibrary_orRefused(JsonNode layout) throws IOException {
    DataLayout mine = layout(texts(layout.get("files")), layout.get("readme"));
    if (layout.has("refused")) {
      // Splits of different formats are each read by itself here.
      if (!layout.get("refused").asText().contains("same data file format")) {
        assertThat(layout.get("readme").isNull() ? emptyOrRefused(mine) : refused(mine)).isTrue();
      }
      return;
    }
    for (Map.Entry<String, JsonNode> config : layout.get("configs").properties()) {
      Map<String, List<String>> splits = expected(config.getValue());
      String subset = layout.get("readme").isNull() ? "" : config.getKey();
      if (layout.get("readme").isNull() && sharesFiles(splits)) {
        assertThatThrownBy(() -> mine.splits(subset)).hasMessageContaining("after the splits [");
      } else if (splits.values().stream().flatMap(List::stream).anyMatch(DataFolder::hasRows)) {
        assertThat(mine.splits(subset)).isEqualTo(splits);
      } else {
        assertThat(mine.splits(subset)).isEmpty();
      }
    }
    String usual = layout.get("default").asText();
    if (usual.isEmpty()) {
      assertThatThrownBy(() -> mine.splits(""))
          .isInstanceOf(TaskDataException.class)
          .hasMessageContaining("name one as subset");
    } else if (!layout.get("readme").isNull()) {
      assertThat(mine.splits("")).isEqualTo(mine.splits(usual));
    }
  }

  private static boolean emptyOrRefused(DataLayout layout) throws IOException {
    return refused(layout) || layout.splits("").isEmpty();
  }

  private static boolean refused(DataLayout layout) throws IOException {
    try {
      return layout.splits("").isEmpty();
    } catch (TaskDataException refused) {
      assertThat(refused).hasMessageStartingWith("set: ");
      return true;
    }
  }

  @Test
  void splits_allConfigurations_areJoined_andAnUnknownOneIsRefused() throws IOException {
    JsonNode two =
        new JsonMapper()
            .readTree("\"- config_name: a\\n  data_dir: a\\n- config_name: b\\n  data_dir: b\\n\"");
    DataLayout layout = layout(List.of("a/train.jsonl", "b/train.jsonl"), two);

    assertThat(layout.splits("*"))
        .containsEntry("train", List.of("a/train.jsonl", "b/train.jsonl"));
    assertThatThrownBy(() -> layout.splits("c"))
        .hasMessage(
            "set: the data set has no configuration and no folder \"c\"; it has the configurations"
                + " [a, b]");
    assertThatThrownBy(() -> new DataLayout("set", List.of("x/a.jsonl"), _ -> "").splits("algebra"))
        .hasMessageEndingWith("it has the folders [x]");
  }

  private void write(String name, String text) throws IOException {
    Path file = folder.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
  }

  private List<String> chosen(String split) throws IOException {
    return DataFolder.files(folder, "", split).stream()
        .map(file -> folder.relativize(file).toString())
        .toList();
  }

  private static String state(String split, String... files) {
    return """
    {"_data_files": [%s], "_fingerprint": "1", "_format_columns": null, "_format_kwargs": {},
     "_format_type": null, "_output_all_columns": false, "_split": %s}\
    """
        .formatted(
            String.join(", ", Stream.of(files).map("{\"filename\": \"%s\"}"::formatted).toList()),
            split);
  }

  @Test
  void files_savedDataSet_areThoseOfItsStateAlone() throws IOException {
    write("state.json", state("\"train\"", "data-00001.arrow", "data-00000.arrow"));
    write("dataset_info.json", "{\"features\": {\"a\": {}}}");
    for (String name : List.of("data-00000.arrow", "data-00001.arrow", "cache-7f.arrow")) {
      write(name, "");
    }

    assertThat(chosen("train")).containsExactly("data-00001.arrow", "data-00000.arrow");
    assertThatThrownBy(() -> chosen("test")).isInstanceOf(TaskDataException.class);

    write("state.json", state("\"test\"", "data-00000.arrow"));
    assertThat(chosen("test")).containsExactly("data-00000.arrow");
    assertThatThrownBy(() -> chosen("train")).hasMessageEndingWith("it has the splits [test]");

    write("state.json", state("null", "data-00000.arrow", "data-00002.arrow"));
    assertThatThrownBy(() -> chosen("train"))
        .hasMessageContaining("state.json lists the file data-00002.arrow, which is not there");
  }

  @Test
  void files_savedWithHiddenRowsOrColumns_areRefused() throws IOException {
    write("data.arrow", "");
    write("dataset_info.json", "{\"features\": {\"a\": {}, \"b\": {}}}");
    String state = state("null", "data.arrow");
    write("state.json", state.replace("\"_format_columns\": null", "\"_format_columns\": [\"a\"]"));
    assertThatThrownBy(() -> chosen("train")).hasMessageContaining("which hides \"b\"");

    write(
        "state.json",
        state.replace("{\"_data_files\"", "{\"_indices_files\": [{}], \"_data_files\""));
    assertThatThrownBy(() -> chosen("train")).hasMessageContaining("a selection of rows");
  }

  @Test
  void files_savedSplits_areThoseOfTheDictionary() throws IOException {
    write("dataset_dict.json", "{\"splits\": [\"train_sft\", \"held\"]}");
    for (String split : List.of("train_sft", "held", "other")) {
      write(split + "/state.json", state("\"train\"", "data.arrow"));
      write(split + "/data.arrow", "");
      write(split + "/cache-1.arrow", "");
    }

    assertThat(chosen("held")).containsExactly("held/data.arrow");
    assertThatThrownBy(() -> chosen("other"))
        .hasMessageEndingWith("it has the splits [held, train_sft]");
    Files.delete(folder.resolve("held/state.json"));
    assertThatThrownBy(() -> chosen("held"))
        .hasMessageContaining("dataset_dict.json lists the split held, which is not there");
  }
}
