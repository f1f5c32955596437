package io.troupe.gym.item;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;

/** The fields of a row that a language model writes, and what they become. */
public enum RowForm {
  /** The response is the answer; of several accepted ones, a line each, the first. */
  ANSWER("answer: the answer and nothing else", "problem answer"),

  /** A worked solution, and the sentence that the verifier of GSM8K reads. */
  GSM8K("solution: the steps; answer: the number that they lead to", "problem solution answer"),

  /** A worked solution, and the sentence that DataEnvGym ends rows of MATH with. */
  MATH(
      "solution: the steps; answer: what they lead to, as LaTeX without a box",
      "problem solution answer"),

  /** A Python function, and the asserts that judge it. */
  CODE(
      "solution: a Python function; tests: asserts about it, one a line", "problem solution tests"),

  /** A response as it is, and the answer in the form that the verifier reads. */
  GIVEN(
      "solution: a whole response; answer: what it is judged by, in the form of the examples",
      "problem solution answer");

  /**
   * A row as the task has it.
   *
   * @param answer that the verifier compares with
   * @param response that the student imitates
   */
  public record Written(String problem, String answer, String response) {}

  private final String meaning;
  private final String fields;

  RowForm(String meaning, String fields) {
    this.meaning = meaning;
    this.fields = fields;
  }

  /** Returns one line that explains the fields. */
  public String meaning() {
    return meaning;
  }

  /** Returns the JSON Schema of a row. */
  public JsonNode schema() {
    ObjectNode schema = JsonNodeFactory.instance.objectNode().put("type", "object");
    List<String> names = List.of(fields.split(" ", -1));
    names.forEach(schema.putArray("required")::add);
    ObjectNode properties = schema.putObject("properties");
    names.forEach(field -> properties.putObject(field).put("type", "string"));
    return schema;
  }

  /** Returns what a row of {@link #schema} becomes. */
  public Written of(JsonNode row) {
    String problem = row.path("problem").asText().strip();
    String solution = row.path("solution").asText().strip();
    String answer = row.path("answer").asText().strip();
    return switch (this) {
      case ANSWER -> new Written(problem, answer, answer.lines().findFirst().orElse(""));
      case GSM8K -> new Written(problem, answer, solution + "\nThe answer is " + answer + ".");
      case MATH ->
          new Written(
              problem,
              answer,
              solution + "\nFinal Answer: The final answer is $\\boxed{ " + answer + " }$.");
      case CODE -> new Written(problem, tests(row.path("tests").asText()), solution + "\n[DONE]");
      case GIVEN -> new Written(problem, answer, solution);
    };
  }

  /** Asserts in the form of MBPP's answers. */
  private static String tests(String lines) {
    ObjectNode answer = JsonNodeFactory.instance.objectNode();
    lines
        .lines()
        .filter(line -> !line.isBlank())
        .map(String::strip)
        .forEach(answer.putArray("tests")::add);
    return answer.put("setup", "").toString();
  }
}
