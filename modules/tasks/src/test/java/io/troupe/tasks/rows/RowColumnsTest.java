package io.troupe.tasks.rows;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.core.prompt.DataRow;
import io.troupe.tasks.columns.CellJson;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class RowColumnsTest {
  private static DataRow read(String json) throws IOException {
    return RowColumns.of((ObjectNode) CellJson.MAPPER.readTree(json));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "{\"level\":2,\"tests\":[\"assert f(1) == 1\",{\"a\":null}],\"b\":true}",
        "{\"price\":2.50,\"big\":123456789012345678901234567890,\"whole\":12345678.0}",
        "{\"a \\\"b\\\"\":\"line\\nline\",\"ü\":\"\uD83D\uDE00\"}",
      })
  void of_anyColumns_areTheJsonOfTheFile(String json) throws IOException {
    assertThat(read(json)).isEqualTo(new DataRow(json, List.of()));
  }

  @Test
  void of_nan_isNullWhereverItIs() throws IOException {
    assertThat(read("{\"a\":NaN,\"b\":[1.5,NaN],\"c\":{\"d\":NaN}}").json())
        .isEqualTo("{\"a\":null,\"b\":[1.5,null],\"c\":{\"d\":null}}");
  }

  @Test
  void of_columnThatIsTooLong_isLeftOutByName() throws IOException {
    String image = "x".repeat(RowColumns.LONGEST);

    DataRow row = read("{\"a\":1,\"image\":\"%s\",\"b\":2}".formatted(image));

    assertThat(row.json()).isEqualTo("{\"a\":1,\"b\":2}");
    assertThat(row.leftOut()).containsExactly("image");
  }
}
