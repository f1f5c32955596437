package io.troupe.tasks;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.reward.JudgedBy;
import io.troupe.core.reward.PassMark;
import io.troupe.tasks.results.ResultFiles;
import io.troupe.tasks.rows.RowFiles;
import io.troupe.tasks.rows.TaskDataException;
import io.troupe.tasks.sets.DataSet;
import io.troupe.tasks.sets.FieldColumns;
import io.troupe.tasks.sets.FieldRows;
import io.troupe.testkit.Fuzz;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files are read, or refused as bad data with their name in front; nothing else happens. */
final class LoadersFuzzTest {
  private static final Path FILES = Path.of("src/test/resources/io/troupe/tasks/rows");
  private static final List<String> BYTES =
      List.of("\0", "\u00ff\u00ff\u00ff\u00ff", "\u0080", "PAR1", "ARROW1", "\u001f\u008b", "{}\n");

  /** A row of each kind, all fields in one. */
  private static final String ROWS =
      """
      {"question": "Q", "answer": "so\\n#### 1,234", "id": 7, "prompt": "P", "problem": "p"}
      {"problem": "p", "level": "Level 3", "type": "Algebra", "solution": "\\\\boxed{1}", "unique_id": "test/algebra/1.json", "subject": "Algebra", "answer": "1"}
      {"task_id": 11, "text": "t", "code": "c", "test_list": ["a"], "test_setup_code": ""}
      {"task_id": "HumanEval/0", "prompt": "p", "test": "t", "entry_point": "f", "canonical_solution": "s"}
      {"problem_id": 4, "question": "Q", "starter_code": "", "difficulty": "interview", "solutions": "[\\"s\\"]", "input_output": "{\\"inputs\\": [\\"1\\"], \\"outputs\\": [\\"2\\"]}"}
      {"key": 1, "prompt": "p", "instruction_id_list": ["a:b"], "kwargs": [{"n": null}]}
      {"messages": [{"role": "user", "content": "Hi"}], "ground_truth": "[{'instruction_id': ['x:y'], 'kwargs': [None]}]"}
      {"id": "a", "reward": 1.0, "completion": "x", "pass_rate": 0.5}
      """;

  private static final List<DataSet> SETS = List.of(DataSet.values());

  @TempDir private Path folder;

  /** A reader of a file. */
  @FunctionalInterface
  private interface Reader {
    void read(Path file) throws IOException;
  }

  private void refusedOrRead(byte[] bytes, Reader reader) throws IOException {
    Path file = folder.resolve("fuzzed");
    Files.write(file, bytes);
    try {
      reader.read(file);
    } catch (TaskDataException refused) {
      assertThat(refused).hasMessageContaining(file.toString());
    }
  }

  private static String latin(byte[] bytes) {
    return new String(bytes, StandardCharsets.ISO_8859_1);
  }

  @Test
  void columnsAndArchives_anyBytes_areReadOrRefused() throws IOException {
    List<String> corpus = new ArrayList<>();
    try (Stream<Path> files = Files.list(FILES)) {
      for (Path file : files.sorted().toList()) {
        corpus.add(latin(Files.readAllBytes(file)));
      }
    }
    ByteArrayOutputStream packed = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(packed)) {
      gzip.write(ROWS.getBytes(StandardCharsets.UTF_8));
    }
    corpus.add(latin(packed.toByteArray()));
    new Fuzz("parquet, arrow, gzip", corpus, BYTES)
        .run(
            3_000,
            (text, _) ->
                refusedOrRead(
                    text.getBytes(StandardCharsets.ISO_8859_1),
                    file -> RowFiles.read(List.of(file), _ -> {})));
  }

  @Test
  void dataSets_anyRows_areReadOrRefused() {
    new Fuzz(
            "rows of data sets",
            ROWS.lines().toList(),
            List.of(
                "{", "}", "[", "]", "\"", ",", "null", "\\u0000", "#### ", "\\\\boxed{", "1e999"))
        .run(
            3_000,
            (text, random) -> {
              byte[] bytes = (text + "\n" + ROWS).getBytes(StandardCharsets.UTF_8);
              DataSet set = SETS.get(random.nextInt(SETS.size()));
              FieldRows own =
                  new FieldRows(
                      new FieldColumns("", "{prompt}", "answer", "solution", "verifier"),
                      _ -> new JudgedBy.OneAnswer());
              refusedOrRead(bytes, file -> Sets.of(set, file).load());
              refusedOrRead(bytes, file -> ResultFiles.read(List.of(file), "", PassMark.FULL));
              refusedOrRead(bytes, file -> DataSetSettings.examples(List.of(file), _ -> own, 1));
            });
  }

  @Test
  void orderFiles_anyText_areReadOrRefused() {
    new Fuzz("order files", List.of("a\nb\n\nc\r\n", "gsm8k_1\ngsm8k_2"), List.of("\n", " ", "a"))
        .run(
            5_000,
            (text, _) -> {
              try {
                assertThat(Curriculum.parse("order.txt", text)).doesNotHaveDuplicates();
              } catch (TaskDataException refused) {
                assertThat(refused).hasMessageStartingWith("order.txt");
              }
            });
  }
}
