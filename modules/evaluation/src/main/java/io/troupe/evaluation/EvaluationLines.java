package io.troupe.evaluation;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.core.reward.Check;
import io.troupe.core.reward.Verdict;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * The lines of an evaluation's files.
 *
 * @param task written into each line; empty where the evaluation has one task
 */
record EvaluationLines(String task) {
  /** Half a surrogate pair of a completion can be written escaped, and not as UTF-8. */
  static final JsonMapper JSON =
      JsonMapper.builder(
              JsonFactory.builder()
                  .streamReadConstraints(
                      StreamReadConstraints.builder().maxStringLength(Integer.MAX_VALUE).build())
                  .build())
          .enable(JsonWriteFeature.ESCAPE_NON_ASCII)
          .disable(SerializationFeature.INDENT_OUTPUT)
          .build();

  static final String SCORED = "scored";

  private ObjectNode head(EvaluationItem item) {
    ObjectNode node = JSON.createObjectNode();
    if (!task.isEmpty()) {
      node.put("task", task);
    }
    return node.put("id", item.id());
  }

  /** What the lines of a prompt's samples begin with, in both files. */
  List<String> heads(EvaluationItem item, int samples) {
    String head = text(head(item));
    String open = head.substring(0, head.length() - 1);
    return IntStream.range(0, samples)
        .mapToObj(sample -> "%s,\"sample\":%d,".formatted(open, sample))
        .toList();
  }

  String prompt(EvaluationItem item) {
    ObjectNode node = head(item).put("source", item.prompt().source());
    ObjectNode facets = node.putObject("facets");
    for (Map.Entry<String, String> facet : new TreeMap<>(item.facets()).entrySet()) {
      facets.put(facet.getKey(), facet.getValue());
    }
    return text(node.put("prompt", item.prompt().text()));
  }

  String completion(EvaluationItem item, int sample, Answer answer) {
    ObjectNode node =
        head(item)
            .put("sample", sample)
            .put("completion", answer.text())
            .put("tokens", answer.tokens())
            .put("finish", answer.finish());
    if (!answer.episode().turns().isEmpty()) {
      node.put("stop", answer.episode().stop());
      node.set("turns", JSON.valueToTree(answer.episode().turns()));
    }
    return text(node);
  }

  String result(EvaluationItem item, int sample, Verdict verdict) {
    ObjectNode node = head(item).put("sample", sample);
    switch (verdict) {
      case Verdict.Scored scored -> {
        node.put("reward", scored.reward()).put("passed", scored.passed()).put("outcome", SCORED);
        node.put("extracted", scored.extracted()).put("reason", scored.reason());
        if (!scored.checks().isEmpty()) {
          ArrayNode checks = node.putArray("checks");
          for (Check check : scored.checks()) {
            checks
                .addObject()
                .put("name", check.name())
                .put("passed", check.passed())
                .put("passed_loosely", check.passedLoosely());
          }
        }
      }
      case Verdict.Unverifiable(Verdict.Cause cause, String reason) ->
          node.put("reward", 0.0)
              .put("passed", false)
              .put("outcome", cause.name().toLowerCase(Locale.ROOT))
              .put("extracted", "")
              .put("reason", reason);
    }
    return text(node);
  }

  private static String text(ObjectNode node) {
    try {
      return JSON.writeValueAsString(node);
    } catch (JsonProcessingException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
