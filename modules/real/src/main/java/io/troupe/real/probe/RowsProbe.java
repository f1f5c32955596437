package io.troupe.real.probe;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.tasks.fetch.DataFolder;
import io.troupe.tasks.rows.RowFiles;
import io.troupe.tasks.rows.TaskDataException;
import java.io.IOException;
import java.nio.file.Path;

/**
 * The rows of a split: {@code {"place", "subset", "split"}} is answered by {@code {"rows": […]}},
 * as a task reads them.
 */
public final class RowsProbe {
  private RowsProbe() {}

  /** Answers until the end of the input. */
  public static void main(String[] arguments) throws IOException {
    ProbeLines.serve(RowsProbe::answer);
  }

  private static JsonNode answer(JsonNode question) throws IOException {
    ObjectNode answer = ProbeLines.object();
    ArrayNode rows = answer.putArray("rows");
    try {
      RowFiles.read(
          DataFolder.files(
              Path.of(question.path("place").asText()),
              question.path("subset").asText(),
              question.path("split").asText()),
          row -> rows.add(row.fields()));
      return answer;
    } catch (TaskDataException refused) {
      return ProbeLines.object().put("refused", refused.getMessage());
    }
  }
}
