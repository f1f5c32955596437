package io.troupe.gym.student;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.base.files.AtomicFile;
import io.troupe.gym.item.TrainingRow;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/**
 * Rows as a file that both commands read: {@code prompt} and {@code completion} of a supervised
 * run, {@code prompt} and {@code answer} of a run that samples and judges.
 */
final class StudentRows {
  private static final ObjectMapper JSON = new ObjectMapper();

  private StudentRows() {}

  static void write(List<TrainingRow> rows, Path file) throws IOException {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < rows.size(); i++) {
      TrainingRow row = rows.get(i);
      ObjectNode line = JSON.createObjectNode();
      line.put("id", "%d %s".formatted(i, row.id())); // a rehearsed row may be there twice
      line.put("prompt", row.item().prompt());
      line.put("completion", row.response());
      line.put("answer", row.item().answer());
      line.put("solution", row.response());
      text.append(line).append('\n');
    }
    AtomicFile.replace(file, text.toString().getBytes(StandardCharsets.UTF_8));
  }
}
