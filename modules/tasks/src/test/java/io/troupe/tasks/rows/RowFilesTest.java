package io.troupe.tasks.rows;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The files were written by PyArrow 25.0.1: five rows with texts, absent values, empty lists, lists
 * of structs, and structs with lists of lists; rows.json says the same.
 */
final class RowFilesTest {
  private static final Path FOLDER = Path.of("src/test/resources/io/troupe/tasks/rows");

  @TempDir private Path temporary;

  private static List<JsonNode> read(Path... files) throws IOException {
    List<JsonNode> rows = new ArrayList<>();
    RowFiles.read(List.of(files), row -> rows.add(row.fields()));
    return rows;
  }

  private static List<JsonNode> asJson(List<JsonNode> rows) throws IOException {
    JsonMapper plain = new JsonMapper();
    List<JsonNode> again = new ArrayList<>();
    for (JsonNode row : rows) {
      again.add(plain.readTree(row.toString()));
    }
    return again;
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "rows-none.parquet",
        "rows-snappy.parquet",
        "rows-gzip.parquet",
        "rows-zstd.parquet",
        "rows-plain.parquet",
        "rows-stream.arrow",
        "rows-file.arrow",
        "rows-dictionary.arrow",
        "rows-compressed.arrow"
      })
  void read_anotherWritersFile_givesItsRows(String name) throws IOException {
    assertThat(asJson(read(FOLDER.resolve(name))))
        .isEqualTo(asJson(read(FOLDER.resolve("rows.json"))))
        .hasSize(5);
  }

  @Test
  void read_severalFiles_numbersTheirRowsOn() throws IOException {
    List<Integer> numbers = new ArrayList<>();
    List<String> places = new ArrayList<>();
    RowFiles.read(
        List.of(FOLDER.resolve("rows-snappy.parquet"), FOLDER.resolve("rows.json")),
        row -> {
          numbers.add(row.number());
          places.add(row.place());
        });

    assertThat(numbers).containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
    assertThat(places).contains(FOLDER.resolve("rows-snappy.parquet") + ":5");
  }

  @Test
  void read_longNumberOfTests_isReadWhole() throws IOException {
    String digits = "7".repeat(20_000);
    Path file = Files.writeString(temporary.resolve("a.jsonl"), "{\"n\": " + digits + "}\n");

    assertThat(read(file).getFirst().path("n").asText()).isEqualTo(digits);
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void read_damagedColumns_areReadOrRefusedAsBadData(long seed) throws IOException {
    Random random = new Random(seed);
    String name = seed % 2 == 0 ? "rows-zstd.parquet" : "rows-dictionary.arrow";
    byte[] bytes = Files.readAllBytes(FOLDER.resolve(name));
    for (int i = 0; i < 1 + random.nextInt(4); i++) {
      bytes[8 + random.nextInt(bytes.length - 8)] = (byte) random.nextInt(256);
    }
    int length = random.nextInt(4) == 0 ? 8 + random.nextInt(bytes.length - 8) : bytes.length;
    Path file = temporary.resolve("damaged");
    Files.write(file, Arrays.copyOf(bytes, length));

    try {
      assertThat(read(file).size()).isLessThan(1_000_000);
    } catch (TaskDataException refused) {
      assertThat(refused).hasMessageStartingWith(file.toString());
    }
  }
}
