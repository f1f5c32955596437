package io.troupe.verifiers.code;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;

/** One program and its tests. */
sealed interface SandboxJob {
  String source();

  record AssertsJob(String source, CodeProblem.Asserts problem) implements SandboxJob {}

  record CheckJob(String source, CodeProblem.CheckFunction problem) implements SandboxJob {}

  record CallsJob(String source, CodeProblem.CallTests problem) implements SandboxJob {}

  record RunJob(String source, String input) implements SandboxJob {}

  /** The job in the form that the judge reads; see judge.py. */
  default ObjectNode json(int outputBytes) {
    ObjectNode json = JsonNodeFactory.instance.objectNode();
    json.put("source", source());
    switch (this) {
      case AssertsJob(
              _,
              CodeProblem.Asserts(String setup, List<String> tests, String entryPoint)) -> {
        json.put("kind", "asserts").put("setup", setup).put("entry_point", entryPoint);
        tests.forEach(json.putArray("tests")::add);
      }
      case CheckJob(_, CodeProblem.CheckFunction(String prompt, String test, String entryPoint)) ->
          json.put("kind", "check")
              .put("prompt", prompt)
              .put("test", test)
              .put("entry_point", entryPoint);
      case CallsJob(_, CodeProblem.CallTests(String function, var calls)) -> {
        json.put("kind", "calls").put("function", function);
        var list = json.putArray("cases");
        calls.forEach(
            one -> {
              ObjectNode item = list.addObject();
              item.set("arguments", one.arguments());
              item.set("expected", one.expected());
            });
      }
      case RunJob(_, String input) ->
          json.put("kind", "run").put("stdin", input).put("most_output", outputBytes);
    }
    return json;
  }
}
