package io.troupe.verifiers.code;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.GZIPInputStream;

/** Prompts of code tasks: written here, and those of the benchmarks. */
final class CodePrompts {
  private static final JsonMapper JSON = JsonMapper.builder().build();

  /** A benchmark's problem with its own solution, as a model would write it. */
  record Gold(Prompt prompt, String solution, String entryPoint) {
    @Override
    public String toString() {
      return prompt.id().toString();
    }
  }

  private CodePrompts() {}

  static Prompt of(String answer) {
    return new Prompt(new PromptId("p"), "code", "", answer, "");
  }

  static Prompt asserts(String... tests) {
    ObjectNode json = JSON.createObjectNode();
    for (String test : tests) {
      json.withArray("tests").add(test);
    }
    return of(json.toString());
  }

  static Prompt runs(String input, String output) {
    ObjectNode json = JSON.createObjectNode();
    json.putArray("inputs").add(input);
    json.putArray("outputs").add(output);
    return of(json.toString());
  }

  static List<Gold> mbpp() throws IOException {
    List<Gold> golds = new ArrayList<>();
    for (String line : text("mbpp_full.jsonl.gz").lines().toList()) {
      JsonNode row = JSON.readTree(line);
      ObjectNode answer = JSON.createObjectNode();
      answer.put("setup", row.get("test_setup_code").asText());
      answer.set("tests", row.get("test_list"));
      golds.add(gold("mbpp_" + row.get("task_id").asText(), answer, row.get("code").asText(), ""));
    }
    return golds;
  }

  static List<Gold> mbppSanitized() throws IOException {
    List<Gold> golds = new ArrayList<>();
    for (JsonNode row : JSON.readTree(text("mbpp_sanitized.json.gz"))) {
      ObjectNode answer = JSON.createObjectNode();
      List<String> imports = new ArrayList<>();
      row.get("test_imports").forEach(line -> imports.add(line.asText()));
      answer.put("setup", String.join("\n", imports));
      answer.set("tests", row.get("test_list"));
      golds.add(gold("mbpp_" + row.get("task_id").asText(), answer, row.get("code").asText(), ""));
    }
    return golds;
  }

  static List<Gold> humanEval() throws IOException {
    List<Gold> golds = new ArrayList<>();
    for (String line : text("humaneval.jsonl.gz").lines().toList()) {
      JsonNode row = JSON.readTree(line);
      ObjectNode answer = JSON.createObjectNode();
      answer.set("prompt", row.get("prompt"));
      answer.set("test", row.get("test"));
      answer.set("entry_point", row.get("entry_point"));
      golds.add(
          gold(
              row.get("task_id").asText(),
              answer,
              row.get("canonical_solution").asText(),
              row.get("entry_point").asText()));
    }
    return golds;
  }

  private static Gold gold(String id, ObjectNode answer, String solution, String entryPoint) {
    Prompt prompt = new Prompt(new PromptId(id), "code", "", answer.toString(), "");
    return new Gold(prompt, solution, entryPoint);
  }

  private static String text(String resource) throws IOException {
    try (InputStream stream =
        new GZIPInputStream(CodePrompts.class.getResourceAsStream(resource))) {
      return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}
