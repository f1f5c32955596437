package io.troupe.gym.factory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FactoryDataTest {
  @TempDir private Path root;

  private Path folder(String entry, String file, String rows) throws IOException {
    Path folder = Files.createDirectories(root.resolve("lf"));
    Files.writeString(folder.resolve("dataset_info.json"), "{\"d\": " + entry + "}\n");
    Files.writeString(folder.resolve(file), rows);
    return folder;
  }

  private String again(Path rows, String file) throws IOException {
    Path out = root.resolve("out");
    int _ = FactoryData.write(rows, out, "unused");
    return Files.readString(out.resolve(file));
  }

  @Test
  void write_rowsOfAGym_areTheBytesOfTheSource() throws IOException {
    Path rows = root.resolve("training_data.jsonl");
    Files.writeString(
        rows,
        """
        {"id":"1","instruction":"What is 2 \u00d7 3/1?","response":"6\\n\u007f\ud83d\ude00"}
        """);

    assertThat(FactoryData.write(rows, root.resolve("out"), FactoryEntry.CUSTOM)).isEqualTo(1);
    assertThat(Files.readString(root.resolve("out/custom_sft_dataset.jsonl")))
        .isEqualTo(
            "{\"instruction\": \"What is 2 \\u00d7 3/1?\", \"output\":"
                + " \"6\\n\\u007f\\ud83d\\ude00\"}\n");
    assertThat(Files.readString(root.resolve("out/dataset_info.json")))
        .isEqualTo(
            "{\"custom_sft_dataset\": {\"file_name\": \"custom_sft_dataset.jsonl\","
                + " \"formatting\": \"alpaca\", \"ranking\": false, \"load_from\": \"file\","
                + " \"columns\": {\"prompt\": \"instruction\", \"response\": \"output\"}}}");
  }

  @Test
  void write_thenReadThenWrite_isTheSameBytes() throws IOException {
    Path rows = root.resolve("a.jsonl");
    Files.writeString(rows, "{\"prompt\":\"\u00fc?\",\"completion\":\"x\"}\n");
    int _ = FactoryData.write(rows, root.resolve("one"), "set");

    assertThat(FactoryData.read(root.resolve("one"), "set", root.resolve("b.jsonl")).rows())
        .isEqualTo(1);
    assertThat(Files.readString(root.resolve("b.jsonl")))
        .isEqualTo("{\"id\":\"set-0\",\"prompt\":\"\u00fc?\",\"completion\":\"x\"}\n");
    int _ = FactoryData.write(root.resolve("b.jsonl"), root.resolve("two"), "other");
    assertThat(root.resolve("two/set.jsonl")).hasSameBinaryContentAs(root.resolve("one/set.jsonl"));
    assertThat(root.resolve("two/dataset_info.json"))
        .hasSameBinaryContentAs(root.resolve("one/dataset_info.json"));
  }

  @Test
  void read_alpacaArray_joinsInputHistoryAndSystem_andComesBackByteForByte() throws IOException {
    String text =
        """
        [
          {
            "instruction": "Add.", "input": "1\u00e9 2",
            "output": "3", "extra": [1.50, {"a": "]"}]
          },
          { "instruction": "And?", "input": "", "output": "4",
            "system": "Be brief.", "history": [["a", "b"]] },
          { "instruction": "No answer", "input": "", "output": null }
        ]
        """;
    Path folder =
        folder(
            "{\"file_name\": \"d.json\", \"columns\": {\"prompt\": \"instruction\", \"query\":"
                + " \"input\", \"response\": \"output\", \"system\": \"system\", \"history\":"
                + " \"history\"}}",
            "d.json",
            text);
    Path rows = root.resolve("rows.jsonl");

    assertThat(FactoryData.read(folder, "d", rows))
        .isEqualTo(
            new FactoryData.Imported(
                2, Map.of("has no text as response, which supervised training leaves out", 1)));
    assertThat(Files.readAllLines(rows))
        .containsExactly(
            "{\"id\":\"d-0\",\"prompt\":\"Add.\\n1\u00e9 2\",\"completion\":\"3\"}",
            "{\"id\":\"d-1\",\"messages\":[{\"role\":\"system\",\"content\":\"Be brief.\"},"
                + "{\"role\":\"user\",\"content\":\"a\"},{\"role\":\"assistant\",\"content\":\"b\"},"
                + "{\"role\":\"user\",\"content\":\"And?\"},"
                + "{\"role\":\"assistant\",\"content\":\"4\"}]}");
    assertThat(again(rows, "d.json")).isEqualTo(text);
  }

  @Test
  void read_sharegpt_keepsAlternatingTurnsAndLeavesOthersOut() throws IOException {
    String text =
        """
        {"conversations":[{"from":"system","value":"S"},{"from":"human","value":"Q"},{"from":"gpt","value":"A"}]}
        {"conversations":[{"from":"human","value":"Q"},{"from":"human","value":"Q"}]}
        {"conversations":[{"from":"human","value":"Q"},{"from":"function_call","value":"{}"}]}
        {"conversations":[{"from":"human","value":"Q"}]}""";
    Path folder =
        folder("{\"file_name\": \"d.jsonl\", \"formatting\": \"sharegpt\"}", "d.jsonl", text);
    Path rows = root.resolve("rows.jsonl");

    assertThat(FactoryData.read(folder, "d", rows).left().values()).containsExactly(1, 1, 1);
    assertThat(Files.readAllLines(rows))
        .containsExactly(
            "{\"id\":\"d-0\",\"messages\":[{\"role\":\"system\",\"content\":\"S\"},"
                + "{\"role\":\"user\",\"content\":\"Q\"},{\"role\":\"assistant\",\"content\":\"A\"}]}");
    assertThat(again(rows, "d.jsonl")).isEqualTo(text);
  }

  @Test
  void write_aChangedImportedRow_rewritesThatRowAlone() throws IOException {
    String text =
        "{\"instruction\":\"a\",\"input\":\"\",\"output\":\"b\"}\n{\"instruction\" : \"c\", \"input\":\"\",\"output\":\"d\"}\n";
    Path folder = folder("{\"file_name\": \"d.jsonl\"}", "d.jsonl", text);
    Path rows = root.resolve("rows.jsonl");
    FactoryData.Imported _ = FactoryData.read(folder, "d", rows);
    Files.writeString(rows, Files.readString(rows).replace("\"b\"", "\"B\""));

    assertThat(again(rows, "d.jsonl"))
        .isEqualTo(
            "{\"instruction\": \"a\", \"output\": \"B\"}\n{\"instruction\" : \"c\", \"input\":\"\",\"output\":\"d\"}\n");
  }

  @Test
  void read_columnsThatListOnlyThePrompt_switchTheOthersOff() throws IOException {
    Path folder =
        folder(
            "{\"file_name\": \"d.jsonl\", \"columns\": {\"prompt\": \"text\"}}",
            "d.jsonl",
            "{\"text\":\"a\",\"output\":\"b\"}\n");

    assertThat(FactoryData.read(folder, "d", root.resolve("rows.jsonl")).rows()).isZero();
  }

  @Test
  void read_whatIsNotThere_isNamed() throws IOException {
    Path folder = folder("{\"file_name\": \"gone.jsonl\"}", "d.jsonl", "");
    Path rows = root.resolve("rows.jsonl");

    assertThatThrownBy(() -> FactoryData.read(folder, "e", rows))
        .hasMessageContaining("has no data set e; it has d");
    assertThatThrownBy(() -> FactoryData.read(folder, "d", rows))
        .hasMessageContaining("gone.jsonl, which is no file");
    Files.writeString(folder.resolve("gone.jsonl"), "{\"a\":1}\n{\"a\":\n");
    assertThatThrownBy(() -> FactoryData.read(folder, "d", rows)).hasMessageContaining("line 3");
    Files.writeString(root.resolve("none.jsonl"), "");
    assertThatThrownBy(() -> FactoryData.write(root.resolve("none.jsonl"), folder, "d"))
        .hasMessageContaining("has no rows");
  }

  @Test
  void settings_batchesAndOverrides_areChecked() {
    assertThat(new FactorySettings("m", "t", 32, Map.of()).accumulation()).isEqualTo(1);
    assertThat(new FactorySettings("m", "t", 32, Map.of()).effectiveBatch()).isEqualTo(32);
    assertThat(new FactorySettings("m", "t", 2, Map.of()).accumulation()).isEqualTo(8);
    assertThat(
            new FactorySettings("m", "t", 0, Map.of("learning_rate", "1e-4"))
                .yaml("d", "/data", "/out"))
        .contains("learning_rate: 1.0e-4\n", "gradient_accumulation_steps: 16\n");
    for (String key : List.of("output_dir", "gradient_accumulation_steps", "dataset", "no_key")) {
      assertThatThrownBy(() -> new FactorySettings("m", "t", 1, Map.of(key, "x")))
          .hasMessageContaining(key);
    }
    assertThatThrownBy(() -> new FactorySettings("m", "t", 1, Map.of("optim", "${x}")))
        .hasMessageContaining("${");
    assertThatThrownBy(() -> new FactorySettings("my model", "t", 2, Map.of()).yaml("d", "a", "b"))
        .hasMessageContaining("holds a blank");
  }
}
