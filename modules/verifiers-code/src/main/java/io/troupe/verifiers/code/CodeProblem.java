package io.troupe.verifiers.code;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.troupe.core.reward.JudgedBy;
import java.util.ArrayList;
import java.util.List;

/**
 * The data by which programs are judged, as a prompt's answer holds it: a JSON object whose keys
 * choose the kind. Other keys than those named below are ignored; keys of two kinds at once are
 * refused.
 *
 * <ul>
 *   <li>{@code tests} (list of texts), optionally {@code setup} and {@code entry_point}: {@link
 *       Asserts}
 *   <li>{@code test}, {@code entry_point}, {@code prompt}: {@link CheckFunction}
 *   <li>{@code inputs} and {@code outputs} (lists of equal length): {@link StdinTests}, or with
 *       {@code fn_name} {@link CallTests}
 * </ul>
 */
public sealed interface CodeProblem {
  /** The fields of all kinds. */
  JudgedBy FIELDS =
      new JudgedBy.NamedFields(
          "tests", "setup", "test", "entry_point", "prompt", "inputs", "outputs", "fn_name");

  /**
   * Statements that succeed for a right program (MBPP).
   *
   * @param setup code of the tests, run before them; the program sees only its imports
   * @param tests each one or several Python statements, at least one of which uses the program
   * @param entryPoint the function under test; empty to find it by the names in the tests
   */
  record Asserts(String setup, List<String> tests, String entryPoint) implements CodeProblem {
    public Asserts {
      tests = List.copyOf(tests);
    }
  }

  /**
   * A function that checks another (HumanEval).
   *
   * @param prompt text that the completion continues: imports, helpers, signature and documentation
   * @param test defines {@code check(candidate)}
   * @param entryPoint name of the function to pass to it
   */
  record CheckFunction(String prompt, String test, String entryPoint) implements CodeProblem {}

  /** Whole programs, judged by their output (APPS). */
  record StdinTests(List<StdinCase> runs) implements CodeProblem {
    /**
     * One run of the program.
     *
     * @param input standard input of the program
     * @param output the expected standard output
     */
    public record StdinCase(String input, String output) {}

    public StdinTests {
      runs = List.copyOf(runs);
    }
  }

  /**
   * A function, or a method of {@code class Solution}, judged by its return values (APPS).
   *
   * @param function name of the function
   * @param calls at least one
   */
  record CallTests(String function, List<Call> calls) implements CodeProblem {
    /**
     * One call.
     *
     * @param arguments a JSON list
     * @param expected JSON
     */
    public record Call(JsonNode arguments, JsonNode expected) {}

    public CallTests {
      calls = List.copyOf(calls);
    }
  }

  /**
   * An answer by which no completion can be judged.
   *
   * @param reason for a person
   */
  record Broken(String reason) implements CodeProblem {}

  /** Parses an answer; {@link Broken} describes what is wrong with it. */
  static CodeProblem parse(String answer) {
    JsonNode json;
    try {
      json =
          JsonMapper.builder()
              .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
              .build()
              .readTree(answer);
    } catch (JsonProcessingException e) {
      return new Broken("no JSON: " + e.getOriginalMessage());
    }
    if (!json.isObject()) {
      return new Broken("a JSON object is wanted, with tests, test, or inputs and outputs");
    }
    boolean asserts = json.has("tests");
    boolean check = json.has("test");
    boolean cases = json.has("inputs") || json.has("outputs");
    if ((asserts ? 1 : 0) + (check ? 1 : 0) + (cases ? 1 : 0) != 1) {
      return new Broken("exactly one of tests, test, and inputs with outputs is wanted");
    }
    return new Reader(json).read(asserts, check);
  }

  /** Reads the fields of a problem and records the first error. */
  final class Reader {
    private final JsonNode json;
    private String trouble = "";

    private Reader(JsonNode json) {
      this.json = json;
    }

    private CodeProblem read(boolean asserts, boolean check) {
      CodeProblem problem = asserts ? asserts() : check ? checkFunction() : cases();
      return trouble.isEmpty() ? problem : new Broken(trouble);
    }

    private CodeProblem asserts() {
      List<String> tests = new ArrayList<>();
      for (JsonNode test : list("tests")) {
        tests.add(written(test, "each of tests"));
      }
      return new Asserts(text("setup", false), tests, text("entry_point", false));
    }

    private CodeProblem checkFunction() {
      return new CheckFunction(
          text("prompt", false), text("test", true), text("entry_point", true));
    }

    private CodeProblem cases() {
      List<JsonNode> inputs = list("inputs");
      List<JsonNode> outputs = list("outputs");
      if (inputs.size() != outputs.size()) {
        return new Broken("%d inputs and %d outputs".formatted(inputs.size(), outputs.size()));
      }
      return json.hasNonNull("fn_name") ? calls(inputs, outputs) : runs(inputs, outputs);
    }

    private CodeProblem calls(List<JsonNode> inputs, List<JsonNode> outputs) {
      List<CallTests.Call> calls = new ArrayList<>();
      for (int i = 0; i < inputs.size(); i++) {
        note(!inputs.get(i).isArray(), "each of inputs must be a list of arguments");
        calls.add(new CallTests.Call(inputs.get(i), outputs.get(i)));
      }
      return new CallTests(text("fn_name", true), calls);
    }

    private CodeProblem runs(List<JsonNode> inputs, List<JsonNode> outputs) {
      List<StdinTests.StdinCase> runs = new ArrayList<>();
      for (int i = 0; i < inputs.size(); i++) {
        String output = lines(outputs.get(i), "each of outputs");
        // A program that writes nothing would pass, so it is no test.
        note(output.isBlank(), "each of outputs must not be blank");
        runs.add(new StdinTests.StdinCase(lines(inputs.get(i), "each of inputs"), output));
      }
      return new StdinTests(runs);
    }

    /** APPS also contains lists of lines. */
    private String lines(JsonNode node, String what) {
      if (node.isTextual()) {
        return node.textValue();
      }
      note(!node.isArray(), what + " must be a text or a list of lines");
      List<String> lines = new ArrayList<>();
      node.forEach(
          line -> {
            note(!line.isTextual(), what + " must be a text or a list of lines");
            lines.add(line.asText());
          });
      return String.join("\n", lines);
    }

    private List<JsonNode> list(String key) {
      JsonNode node = json.path(key);
      note(!node.isArray(), key + " must be a list");
      List<JsonNode> items = new ArrayList<>();
      node.forEach(items::add);
      note(items.isEmpty(), key + " is empty, and without tests nothing can be judged");
      return items;
    }

    private String text(String key, boolean needed) {
      JsonNode node = json.path(key);
      if (!needed && (node.isMissingNode() || node.isNull())) {
        return "";
      }
      return needed ? written(node, key) : checkedText(node, key);
    }

    private String written(JsonNode node, String what) {
      String text = checkedText(node, what);
      note(text.isBlank(), what + " must not be blank");
      return text;
    }

    private String checkedText(JsonNode node, String what) {
      note(!node.isTextual(), what + " must be a text");
      return node.asText();
    }

    private void note(boolean wrong, String reason) {
      if (wrong && trouble.isEmpty()) {
        trouble = reason;
      }
    }
  }
}
