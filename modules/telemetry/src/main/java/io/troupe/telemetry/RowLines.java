package io.troupe.telemetry;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A {@link RowQueue} as lines of JSON: {@code {"row": …, "evaluation_due": …}}, the row as in
 * metrics.jsonl.
 */
public final class RowLines {
  private record Line(
      Map<String, Object> row, @JsonProperty("evaluation_due") boolean evaluationDue) {}

  private static final ObjectMapper MAPPER =
      JsonMapper.builder()
          .enable(DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES)
          .enable(DeserializationFeature.FAIL_ON_NULL_CREATOR_PROPERTIES)
          .build();

  private RowLines() {}

  /** Encodes one line a row, in order. */
  public static List<String> encode(RowQueue rows) {
    List<String> lines = new ArrayList<>();
    for (RowQueue.Waiting one : rows.waiting()) {
      Map<String, Object> line = new LinkedHashMap<>();
      line.put("row", one.row().toMap());
      line.put("evaluation_due", one.evaluationDue());
      try {
        lines.add(MAPPER.writeValueAsString(line));
      } catch (JsonProcessingException impossible) {
        throw new IllegalStateException("a row is numbers and words", impossible);
      }
    }
    return lines;
  }

  /**
   * Reads the lines back; a number that was not finite comes back as not a number.
   *
   * @throws IllegalArgumentException if a line is not a row with this version's metrics; names the
   *     line
   */
  public static RowQueue decode(List<String> lines) {
    RowQueue rows = RowQueue.EMPTY;
    for (int i = 0; i < lines.size(); i++) {
      try {
        Line line = MAPPER.readValue(lines.get(i), Line.class);
        rows = rows.add(MetricCatalogue.rowOf(line.row()), line.evaluationDue());
      } catch (JsonProcessingException | IllegalArgumentException unlike) {
        throw new IllegalArgumentException(
            "line %d is not a row: %s".formatted(i + 1, unlike.getMessage()), unlike);
      }
    }
    return rows;
  }
}
