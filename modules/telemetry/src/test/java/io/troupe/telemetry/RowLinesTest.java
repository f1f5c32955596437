package io.troupe.telemetry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

final class RowLinesTest {
  @Test
  void decode_encoded_isTheSameQueue() {
    RowQueue rows =
        RowQueue.EMPTY
            .add(StepRow.before(0.5), true)
            .add(Rows.first(), false)
            .add(Rows.evaluated(), false)
            .add(Rows.huge(), true);
    assertThat(RowLines.decode(RowLines.encode(rows))).isEqualTo(rows);
    assertThat(RowLines.decode(List.of())).isEqualTo(RowQueue.EMPTY);
  }

  @Test
  void decode_numbersThatAreNotFinite_areWrittenAsBefore() {
    RowQueue rows = RowQueue.EMPTY.add(Rows.undefined(), false);
    List<String> lines = RowLines.encode(rows);
    assertThat(lines.getFirst()).contains("\"eval\":null").doesNotContain("NaN");
    assertThat(RowLines.encode(RowLines.decode(lines))).isEqualTo(lines);
  }

  @Test
  void decode_otherMetrics_namesLineAndMetric() {
    String good = RowLines.encode(RowQueue.EMPTY.add(Rows.first(), false)).getFirst();
    assertThatThrownBy(() -> RowLines.decode(List.of(good, good.replace("kl", "k1"))))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("line 2 is not a row: kl is missing");
    assertThatThrownBy(() -> RowLines.decode(List.of(good.replace("\"step\":1", "\"step\":[]"))))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("line 1 is not a row: step is no long: []");
    assertThatThrownBy(() -> RowLines.decode(List.of("{")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("line 1 is not a row: ");
  }
}
