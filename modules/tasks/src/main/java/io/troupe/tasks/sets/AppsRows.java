package io.troupe.tasks.sets;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.tasks.rows.Row;
import io.troupe.tasks.rows.RowException;
import io.troupe.tasks.rows.RowJson;
import java.util.ArrayList;
import java.util.List;

/**
 * Programming problems from contests and interviews (Hendrycks et al. 2021, "Measuring Coding
 * Challenge Competence With APPS").
 *
 * <ul>
 *   <li>Question: the statement, and the starter code where there is some.
 *   <li>Answer: {@code inputs} and {@code outputs}, texts for a program that reads standard input,
 *       the values themselves for a function, whose name is then {@code fn_name}.
 *   <li>Solution: the first of the row's; empty where it has none.
 *   <li>Id: {@code apps_} and the problem id. Facet: {@code difficulty}.
 * </ul>
 *
 * Rows without tests are skipped and counted, because no verifier could judge them.
 */
final class AppsRows implements RowFormat {
  @Override
  public RowOutcome read(Row row) throws RowException {
    String id = "apps_" + row.scalar(row.has("problem_id") ? "problem_id" : "id");
    String tests = row.textOrEmpty("input_output");
    if (tests.isBlank()) {
      return new RowOutcome.Skipped(id, "tests");
    }
    JsonNode given = RowJson.parse(tests, "\"input_output\"");
    JsonNode inputs = given.path("inputs");
    JsonNode outputs = given.path("outputs");
    if (inputs.isEmpty() || outputs.isEmpty()) {
      return new RowOutcome.Skipped(id, "tests");
    }
    if (!inputs.isArray() || !outputs.isArray() || inputs.size() != outputs.size()) {
      throw row.bad("input_output", "must have as many outputs as inputs");
    }
    ObjectNode answer = RowJson.object();
    if (given.hasNonNull("fn_name")) {
      answer.set("inputs", inputs);
      answer.set("outputs", outputs);
      answer.set("fn_name", given.get("fn_name"));
    } else {
      lines(inputs, answer.putArray("inputs"));
      lines(outputs, answer.putArray("outputs"));
    }
    return new RowOutcome.Taken(
        DataItem.of(id, question(row), answer.toString(), solution(row))
            .with("difficulty", row.textOrEmpty("difficulty")));
  }

  private static String question(Row row) throws RowException {
    String starter = row.textOrEmpty("starter_code");
    return row.text("question")
        + (starter.isBlank() ? "" : "\n\nStarter code:\n```python\n" + starter + "\n```\n");
  }

  private static String solution(Row row) throws RowException {
    String listed = row.textOrEmpty("solutions");
    return listed.isBlank() ? "" : RowJson.parse(listed, "\"solutions\"").path(0).asText("");
  }

  /** Adds the input or output of a program: a text, or a list of lines. */
  private static void lines(JsonNode values, ArrayNode texts) {
    for (JsonNode value : values) {
      if (value.isArray()) {
        List<String> lines = new ArrayList<>();
        value.forEach(line -> lines.add(line.isTextual() ? line.textValue() : line.toString()));
        texts.add(String.join("\n", lines));
      } else {
        texts.add(value.isTextual() ? value.textValue() : value.toString());
      }
    }
  }
}
