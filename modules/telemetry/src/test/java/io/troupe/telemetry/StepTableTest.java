package io.troupe.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

final class StepTableTest {
  private static String render(StepTable table) {
    return Stream.of(
            table.header(),
            table.row(StepRow.before(0).evaluated(0.034)),
            table.row(Rows.first()),
            table.note("gpu-2 left; 3 groups reissued; 2 of 3 workers"),
            table.row(Rows.evaluated()),
            table.row(Rows.huge()),
            table.row(Rows.undefined()))
        .reduce("", (text, line) -> text + line + "\n");
  }

  @Test
  void row_unicode_isAligned() {
    assertThat(render(StepTable.UNICODE)).isEqualTo(Goldens.text("table.txt"));
  }

  @Test
  void row_ascii_isAlignedAndAscii() {
    String text = render(StepTable.ASCII);
    assertThat(text.chars()).allMatch(character -> character < 128);
    assertThat(text).isEqualTo(Goldens.text("table-ascii.txt"));
  }

  @Test
  void row_anyValues_hasTheHeadersWidth() {
    int width = StepTable.UNICODE.header().length();
    assertThat(Stream.of(Rows.first(), Rows.evaluated(), Rows.huge(), Rows.undefined()))
        .allSatisfy(row -> assertThat(StepTable.UNICODE.row(row)).hasSize(width));
  }
}
