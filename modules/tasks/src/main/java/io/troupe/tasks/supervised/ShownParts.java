package io.troupe.tasks.supervised;

import io.troupe.core.prompt.ThoughtMarks;
import io.troupe.engine.Tokenizer;
import io.troupe.environments.format.ThoughtSplit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Says what a rendered conversation leaves out of its row.
 *
 * @param tokenizer by whose marks texts are rendered
 */
record ShownParts(Tokenizer tokenizer) {
  private static final int SHORT = 60;

  /** Returns why a text does not show tools; empty if it shows them. */
  Optional<IllegalArgumentException> missingTool(String text, @Nullable Object tools) {
    return missing(text, "a tool", names(tools));
  }

  /** Returns why a text does not show an answer; empty if it shows all of it. */
  Optional<IllegalArgumentException> missingPart(String text, Map<String, Object> answer) {
    Map<String, List<String>> parts = new LinkedHashMap<>();
    parts.put("a call of a tool", names(answer.get("tool_calls")));
    parts.put("the reasoning of an answer", List.of(text(answer, "reasoning_content")));
    parts.put("the thinking of an answer", List.of(text(answer, "thinking")));
    String content = text(answer, "content");
    ThoughtSplit split = ThoughtSplit.of(content, ThoughtMarks.behindLastEnd(content) > 0);
    parts.put("the thought of an answer", List.of(split.thought()));
    parts.put("an answer", List.of(split.rest()));
    return parts.entrySet().stream()
        .flatMap(each -> missing(text, each.getKey(), each.getValue()).stream())
        .findFirst();
  }

  private Optional<IllegalArgumentException> missing(String text, String what, List<String> parts) {
    return parts.stream()
        .map(part -> tokenizer.literal(part.strip()))
        .filter(part -> !text.contains(part))
        .findFirst()
        .map(
            part ->
                new IllegalArgumentException(
                    "the chat template leaves out %s, or changes it: \"%s\"; change the row, or take a checkpoint whose template shows it"
                        .formatted(what, shortened(part))));
  }

  static String shortened(String text) {
    return text.length() <= SHORT ? text : text.substring(0, SHORT) + "…";
  }

  private static String text(Map<String, Object> answer, String field) {
    return String.valueOf(answer.getOrDefault(field, ""));
  }

  /** Returns the names of the functions of tools or calls. */
  private static List<String> names(@Nullable Object list) {
    return !(list instanceof List<?> all)
        ? List.of()
        : all.stream()
            .filter(Map.class::isInstance)
            .map(each -> ((Map<?, ?>) each).get("function"))
            .filter(Map.class::isInstance)
            .map(each -> String.valueOf(((Map<?, ?>) each).get("name")))
            .toList();
  }
}
