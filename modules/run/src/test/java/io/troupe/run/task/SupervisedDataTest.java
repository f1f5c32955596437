package io.troupe.run.task;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.chat.JinjaChatTemplate;
import io.troupe.config.supervised.SupervisedConfig;
import io.troupe.engine.CharacterTokenizer;
import io.troupe.tasks.rows.TaskDataException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Rows of supervised data sets, from their files to their tokens. */
final class SupervisedDataTest {
  private static final String TEMPLATE =
      "{% for m in messages %}<{{ m.content }}>{% endfor %}{% if add_generation_prompt %}<{% endif %}";
  private static final String PLAIN = "{\"role\": \"assistant\", \"content\": \"a\"}";
  private static final String CALL =
      "{\"role\": \"assistant\", \"content\": \"\", \"tool_calls\": [{\"function\": {\"name\":"
          + " \"add\", \"arguments\": {}}}]}";
  private static final String THOUGHT =
      "{\"role\": \"assistant\", \"content\": \"a\", \"reasoning_content\": \"why\"}";

  @TempDir private Path folder;

  private SupervisedData read(String keys, String... answers) throws IOException {
    Files.write(
        folder.resolve("rows.jsonl"),
        List.of(answers).stream()
            .map("{\"messages\": [{\"role\": \"user\", \"content\": \"q\"}, %s]}"::formatted)
            .toList());
    Path file =
        Files.writeString(
            folder.resolve("sft.yaml"),
            """
            run: {folder: runs}
            policy: {engine: toy}
            datasets: [{file: rows.jsonl%s}]
            training: {epochs: 1, batch: 1, learning_rate: 0.1}
            """
                .formatted(keys));
    SupervisedConfig config = SupervisedConfig.load(file, List.of()).config();
    String characters =
        IntStream.range('\n', 127).mapToObj(Character::toString).collect(Collectors.joining());
    return SupervisedData.of(
        SupervisedRows.read(config.datasets(), config.data(), config.run().seed()),
        JinjaChatTemplate.of(TEMPLATE, Map.of(), Clock.systemUTC()),
        new CharacterTokenizer(characters),
        config.data(),
        100);
  }

  @Test
  void of_rowsThatTheTemplateCutsShort_areRefusedRowsOfTheFileWithinTheLimit() throws IOException {
    SupervisedData data =
        read(", max_refused_share: 0.6", PLAIN, CALL, PLAIN, THOUGHT, "{\"role\": 7}");

    assertThat(data.train()).hasSize(2);
    assertThat(data.leftOut()).hasSize(3);
    assertThat(data.leftOut().get(1))
        .contains(
            "1 of 5 rows left out, refused because \"messages\": the chat template leaves out a"
                + " call of a tool, or changes it: \"add\"",
            "rows.jsonl:2");
    assertThat(data.leftOut().get(2)).contains("leaves out the reasoning", "rows.jsonl:4");
  }

  @Test
  void of_moreRowsThanTheLimitAllows_endsTheStartWithFileLineFieldAndReason() {
    assertThatThrownBy(
            () -> read(", max_refused_share: 0.5", PLAIN, CALL, PLAIN, THOUGHT, "{\"role\": 7}"))
        .isInstanceOf(TaskDataException.class)
        .hasMessageContaining("rows.jsonl: 3 of 5 rows are refused:")
        .hasMessageContaining("rows.jsonl:2: \"messages\": the chat template leaves out a call")
        .hasMessageEndingWith("or raise datasets[].max_refused_share (0.5)");
  }

  @Test
  void read_subset_takesTheFolderOfThatName() throws IOException {
    Path part = Files.createDirectories(folder.resolve("data/small"));
    Files.writeString(
        part.resolve("train.jsonl"), "{\"prompt\": \"1+1=\", \"completion\": \"2\"}\n");
    Path other = Files.createDirectories(folder.resolve("data/large"));
    Files.writeString(
        other.resolve("train.jsonl"), "{\"prompt\": \"2+2=\", \"completion\": \"4\"}\n");
    Path file =
        Files.writeString(
            folder.resolve("sft.yaml"),
            """
            run: {folder: runs}
            policy: {engine: toy}
            datasets: [{file: data, subset: small}]
            training: {epochs: 1, batch: 1, learning_rate: 0.1}
            """);
    SupervisedConfig config = SupervisedConfig.load(file, List.of()).config();

    assertThat(SupervisedRows.read(config.datasets(), config.data(), 1).alphabet())
        .isEqualTo("+12=");
  }
}
