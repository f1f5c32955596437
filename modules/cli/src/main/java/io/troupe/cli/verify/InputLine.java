package io.troupe.cli.verify;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A completion to judge, read from a line.
 *
 * @param head beginning of the output line: {@code id} as it is written, and for a rollout of a run
 *     its {@code group}, {@code fence} and {@code index} among the group's completions
 * @param prompt with what the completion is judged by
 */
record InputLine(ObjectNode head, Prompt prompt, String completion) {
  private static final JsonMapper JSON =
      JsonMapper.builder(
              JsonFactory.builder()
                  .streamReadConstraints(
                      StreamReadConstraints.builder().maxStringLength(Integer.MAX_VALUE).build())
                  .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                  .build())
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build();

  /** A line that is no completion to judge; the message says what it lacks. */
  static final class BadLineException extends Exception {
    private static final long serialVersionUID = 1;

    BadLineException(String rule) {
      super(rule);
    }
  }

  /**
   * Reads a line: one completion, or those of a group as a run's {@code rollouts.jsonl} has them.
   *
   * <p>What a completion is judged by is the field {@code answer} where it is the only such field,
   * as text; else the object of all fields but {@code id} and {@code completion}.
   *
   * @param source the verifier's name
   */
  static List<InputLine> read(byte[] line, String source) throws BadLineException {
    ObjectNode node = object(line);
    return node.has("completions") && !node.has("completion")
        ? rollouts(node, source)
        : List.of(single(node, source));
  }

  private static List<InputLine> rollouts(ObjectNode node, String source) throws BadLineException {
    JsonNode id = node.path("prompt_id");
    JsonNode answer = node.path("answer");
    JsonNode completions = node.path("completions");
    if (!id.isTextual() || id.asText().isBlank() || !answer.isTextual() || !completions.isArray()) {
      throw new BadLineException(
          "needs \"prompt_id\" and \"answer\", texts, and \"completions\", a list of texts");
    }
    Prompt prompt =
        new Prompt(
            new PromptId(id.asText()), source, node.path("prompt").asText(), answer.asText(), "");
    List<InputLine> lines = new ArrayList<>();
    for (JsonNode completion : completions) {
      if (!completion.isTextual()) {
        throw new BadLineException(
            "needs \"completions\", a list of texts (id %s)".formatted(id.asText()));
      }
      ObjectNode head = JSON.createObjectNode();
      head.set("id", id);
      for (String field : List.of("group", "fence")) {
        if (node.has(field)) {
          head.set(field, node.get(field));
        }
      }
      head.put("index", lines.size());
      lines.add(new InputLine(head, prompt, completion.asText()));
    }
    return lines;
  }

  private static InputLine single(ObjectNode node, String source) throws BadLineException {
    JsonNode id = node.path("id");
    if ((!id.isTextual() && !id.isIntegralNumber()) || id.asText().isBlank()) {
      throw new BadLineException("needs \"id\", a text or a whole number");
    }
    JsonNode completion = node.path("completion");
    if (!completion.isTextual()) {
      throw new BadLineException("needs \"completion\", a text (id %s)".formatted(id.asText()));
    }
    String text = node.path("prompt").isTextual() ? node.path("prompt").asText() : "";
    node.remove("id");
    node.remove("completion");
    ObjectNode head = JSON.createObjectNode();
    head.set("id", id);
    return new InputLine(
        head,
        new Prompt(new PromptId(id.asText()), source, text, answer(node), ""),
        completion.asText());
  }

  private static ObjectNode object(byte[] line) throws BadLineException {
    try {
      return Optional.ofNullable(JSON.readTree(line))
          .filter(ObjectNode.class::isInstance)
          .map(ObjectNode.class::cast)
          .orElseThrow(() -> new BadLineException("must be a JSON object"));
    } catch (JsonProcessingException broken) {
      throw new BadLineException("is not JSON: " + broken.getOriginalMessage());
    } catch (IOException broken) {
      throw new BadLineException("is not UTF-8: " + broken.getMessage());
    }
  }

  private static String answer(ObjectNode rest) {
    JsonNode answer = rest.path("answer");
    boolean alone = rest.size() == 1 || (rest.size() == 2 && rest.has("prompt"));
    if (alone && !answer.isMissingNode()) {
      return answer.isValueNode() ? answer.asText() : answer.toString();
    }
    return rest.isEmpty() ? "" : rest.toString();
  }
}
