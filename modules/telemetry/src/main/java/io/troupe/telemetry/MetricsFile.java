package io.troupe.telemetry;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The rows of a run's metrics.jsonl. */
public final class MetricsFile {
  private static final JsonMapper JSON = JsonMapper.builder().build();

  private MetricsFile() {}

  /** Returns all whole rows after the first {@code after}; none if there is no file. */
  public static List<Map<String, Object>> read(Path file, long after) throws IOException {
    List<Map<String, Object>> rows = new ArrayList<>();
    if (!Files.isRegularFile(file)) {
      return rows;
    }
    try (var lines = Files.lines(file)) {
      for (String line : (Iterable<String>) lines.skip(after)::iterator) {
        rows.add(JSON.readValue(line, new TypeReference<Map<String, Object>>() {}));
      }
    } catch (JsonProcessingException torn) {
      // The last line is being written, or was cut off by a crash; the rows before it are whole.
    }
    return rows;
  }
}
