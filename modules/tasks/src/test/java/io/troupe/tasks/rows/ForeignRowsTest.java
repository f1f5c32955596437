package io.troupe.tasks.rows;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Files of other software, which {@code make_rows.py} wrote, and texts that people write. */
final class ForeignRowsTest {
  private static final Path FOLDER = Path.of("src/test/resources/io/troupe/tasks/interop");
  private static final JsonMapper PLAIN =
      JsonMapper.builder().enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS).build();

  @TempDir private Path temporary;

  private static List<Row> rows(Path file) throws IOException {
    List<Row> rows = new ArrayList<>();
    RowFiles.read(List.of(file), rows::add);
    return rows;
  }

  private Row row(String name, String content) throws IOException {
    return rows(Files.writeString(temporary.resolve(name), content)).getFirst();
  }

  private static JsonNode table() throws IOException {
    return PLAIN.readTree(FOLDER.resolve("types.json").toFile());
  }

  static Stream<String> files() throws IOException {
    return table().propertyStream().map(Map.Entry::getKey);
  }

  @ParameterizedTest
  @MethodSource("files")
  void read_fileOfOtherSoftware_givesTheCellsThatPythonReads(String name) throws IOException {
    List<Row> rows = rows(FOLDER.resolve(name));
    JsonNode expected = table().get(name);

    assertThat(rows).hasSize(expected.size());
    for (int i = 0; i < rows.size(); i++) {
      compare("%s, row %d".formatted(name, i), expected.get(i), rows.get(i).fields());
    }
  }

  /** A text that stands for a number says its digits. */
  private static void compare(String where, JsonNode expected, JsonNode cell) {
    if (expected.isObject()) {
      assertThat(cell.properties().stream().map(Map.Entry::getKey))
          .as(where)
          .containsExactlyInAnyOrderElementsOf(
              expected.properties().stream().map(Map.Entry::getKey).toList());
      expected
          .properties()
          .forEach(e -> compare(where + ": " + e.getKey(), e.getValue(), cell.get(e.getKey())));
    } else if (expected.isArray()) {
      assertThat(cell.size()).as(where).isEqualTo(expected.size());
      for (int i = 0; i < expected.size(); i++) {
        compare(where + "[" + i + "]", expected.get(i), cell.get(i));
      }
    } else if (expected.isNumber()) {
      assertThat(cell.isNumber()).as(where).isTrue();
      assertThat(cell.decimalValue()).as(where).isEqualByComparingTo(expected.decimalValue());
      assertThat(cell.asText()).as(where).doesNotContain("E", "e").doesNotEndWith(".0");
    } else if (expected.isTextual() && cell.isNumber()) {
      assertThat(cell.asText()).as(where).isEqualTo(expected.asText());
    } else {
      assertThat(cell).as(where).isEqualTo(expected);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "12345678.0, 12345678",
    "1.2345678E7, 12345678",
    "1e7, 10000000",
    "1E+2, 100",
    "0.1, 0.1",
    "0.10, 0.10",
    "1e-7, 0.0000001",
    "-0.0, 0",
    "100, 100",
    "18446744073709551615, 18446744073709551615",
    "123456789012345678901234567890, 123456789012345678901234567890",
    "-2.50e1, -25",
    "-Infinity, -Infinity",
    "1e400000000, 1E+400000000"
  })
  void scalar_numberOfJson_isTheTextThatAPersonWrites(String written, String text)
      throws Exception {
    assertThat(row("n.jsonl", "{\"n\": %s}\n".formatted(written)).scalar("n")).isEqualTo(text);
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void read_damagedFileOfOtherSoftware_isReadOrRefusedByItsName(long seed) throws IOException {
    Random random = new Random(seed);
    List<String> names = files().filter(name -> !name.contains("json")).toList();
    String name = names.get(random.nextInt(names.size()));
    byte[] bytes = Files.readAllBytes(FOLDER.resolve(name));
    for (int i = 0; i < 1 + random.nextInt(4); i++) {
      bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
    }
    int length = random.nextInt(4) == 0 ? random.nextInt(bytes.length) : bytes.length;
    Path file = temporary.resolve(name);
    Files.write(file, Arrays.copyOf(bytes, length));

    try {
      RowFiles.read(List.of(file), row -> row.fields().size());
    } catch (TaskDataException refused) {
      assertThat(refused).hasMessageContaining(file.toString());
    }
  }

  @Test
  void read_unreadableColumn_isRefusedOnlyWhereItIsUsed() throws Exception {
    Path file = FOLDER.resolve("unreadable.arrow");

    RowFiles.read(List.of(file), row -> assertThat(row.scalar("id")).isEqualTo("a"));
    for (String column : List.of("bytes", "variants")) {
      List<RowReader> uses =
          List.of(
              row -> row.scalar(column),
              row -> row.has(column),
              row -> row.text(column),
              row -> row.texts(column),
              row -> row.fields().path(column).asText(),
              row -> assertThat(row.fields().toString()).isEmpty());
      for (RowReader use : uses) {
        assertThatThrownBy(() -> RowFiles.read(List.of(file), use))
            .isInstanceOf(TaskDataException.class)
            .hasMessageStartingWith(file + ": the column \"")
            .hasMessageContaining("leave it out");
      }
    }
    RowFiles.read(
        List.of(file),
        row ->
            assertThat(RowColumns.of(row.fields()).leftOut()).containsExactly("bytes", "variants"));
    assertThatThrownBy(() -> RowFiles.read(List.of(file), row -> row.has("variants")))
        .hasMessageContaining("the column \"variants\" holds variants of Parquet");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "a.csv|a,b\\n"
            + "1,2,3\\n"
            + "|a.csv:2: a row has one value for each of the 2 columns, and this one has 3",
        "a.csv|a,b\\n"
            + "1,2\\n"
            + "3\\n"
            + "|a.csv:3: a row has one value for each of the 2 columns, and this one has 1",
        "a.csv|a,a\\n"
            + "1,2\\n"
            + "|a.csv:1: the columns of a CSV file have different names, and \"a\" is there twice",
        "a.csv|a\\n\"1\\n|the file must be CSV",
        "a.json|{\\n"
            + "  \"data\": [{\"a\": 1}]\\n"
            + "}\\n"
            + "|its first line is only the beginning of an object",
        "a.jsonl|{\"a\": 1, \"a\": 2}\\n"
            + "|a.jsonl:1: a line must be one JSON object (Duplicate field 'a')",
        "a.parquet|{\"a\": 1}\\n"
            + "|a.parquet is no Parquet file, which begins with PAR1, so it is damaged",
        "a.arrow|''|a.arrow is no Arrow file, which begins with ARROW1, so it is damaged",
        "a.jsonl|PARE and more|a.jsonl is an encrypted Parquet file; decrypt it",
        "a.parquet|PAR1 and no more|the Parquet file is damaged"
      })
  void read_badFile_saysWhatIsWrongAndWhatToDo(String name, String content, String message)
      throws IOException {
    Path file = Files.writeString(temporary.resolve(name), content.replace("\\n", "\n"));

    assertThatThrownBy(() -> rows(file))
        .isInstanceOf(TaskDataException.class)
        .hasMessageContaining(message);
  }

  @Test
  void read_cutArrowFile_isRefused_andUtf16Too() throws IOException {
    byte[] whole = Files.readAllBytes(FOLDER.resolve("types-file.arrow"));
    Path cut = temporary.resolve("cut.arrow");
    Files.write(cut, Arrays.copyOf(whole, whole.length / 2));
    Path wide = temporary.resolve("wide.csv");
    Files.write(wide, "\ufeffa,b\n".getBytes(StandardCharsets.UTF_16LE));

    assertThatThrownBy(() -> rows(cut)).hasMessageContaining("it is cut off");
    assertThatThrownBy(() -> rows(wide)).hasMessageContaining("is UTF-16 text; write it as UTF-8");
  }

  @Test
  void read_csv_takesLineEndsQuotesAndEmptyValuesAsTheyAre() throws Exception {
    Row row = row("a.csv", "\ufeffid,q,a\r\n\r\n7,\"x \"\"y\"\"\n z \",\r\n");

    assertThat(row.fields().toString())
        .isEqualTo("{\"id\":\"7\",\"q\":\"x \\\"y\\\"\\n z \",\"a\":\"\"}");
  }
}
