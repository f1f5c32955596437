package io.troupe.cli.verify;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.core.prompt.DataRow;
import io.troupe.core.prompt.OpenThought;
import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.core.reward.JudgedBy;
import io.troupe.tasks.columns.CellNodes;
import io.troupe.tasks.rows.RowColumns;
import io.troupe.tasks.rows.RowException;
import io.troupe.tasks.rows.ValueText;
import io.troupe.tasks.sets.GoldText;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A completion to judge, read from a line.
 *
 * @param head beginning of the output line: {@code id} as it is written, and for a rollout of a run
 *     its {@code group}, {@code fence} and {@code index} among the group's completions
 * @param prompt with what the completion is judged by
 * @param thoughtOpen whether the prompt ends inside a thought that the completion continues: what
 *     the line says, and otherwise what its prompt shows
 * @param flaw why the completion cannot be judged; empty where it can
 */
record InputLine(
    ObjectNode head, Prompt prompt, String completion, boolean thoughtOpen, String flaw) {
  private static final String THOUGHT_OPEN = "thought_open";
  private static final String ANSWER = "answer";
  private static final String PROMPT = "prompt";

  private static final JsonMapper JSON =
      JsonMapper.builder(
              JsonFactory.builder()
                  .streamReadConstraints(
                      StreamReadConstraints.builder().maxStringLength(Integer.MAX_VALUE).build())
                  .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                  .build())
          .nodeFactory(CellNodes.INSTANCE)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
          .build();

  private InputLine(ObjectNode head, Prompt prompt, String completion, boolean thoughtOpen) {
    this(head, prompt, completion, thoughtOpen, "");
  }

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
   * <p>A completion is judged by the fields that the verifier reads. A line may hold others. All
   * but the completion and {@code thought_open} are its row.
   *
   * @param source the verifier's name
   * @param by what the verifier reads
   */
  static List<InputLine> read(byte[] line, String source, JudgedBy by) throws BadLineException {
    ObjectNode node = object(line);
    return node.has("completions") && !node.has("completion")
        ? rollouts(node, source)
        : List.of(single(node, source, by));
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
    boolean thoughtOpen = thoughtOpen(node, id.asText());
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
      lines.add(new InputLine(head, prompt, completion.asText(), thoughtOpen));
    }
    return lines;
  }

  private static InputLine single(ObjectNode node, String source, JudgedBy by)
      throws BadLineException {
    JsonNode id = node.path("id");
    if ((!id.isTextual() && !id.isIntegralNumber()) || id.asText().isBlank()) {
      throw new BadLineException("needs \"id\", a text or a whole number");
    }
    JsonNode completion = node.path("completion");
    if (!completion.isTextual()) {
      throw new BadLineException("needs \"completion\", a text (id %s)".formatted(id.asText()));
    }
    String text = node.path(PROMPT).isTextual() ? node.path(PROMPT).asText() : "";
    boolean thoughtOpen = thoughtOpen(node, id.asText());
    node.remove(THOUGHT_OPEN);
    node.remove("completion");
    DataRow row = RowColumns.of(node);
    node.remove("id");
    ObjectNode head = JSON.createObjectNode();
    head.set("id", id);
    PromptId prompt = new PromptId(id.asText());
    try {
      String answer = answer(node, by);
      return new InputLine(
          head,
          new Prompt(prompt, source, text, answer, "", row),
          completion.asText(),
          thoughtOpen);
    } catch (RowException bad) {
      return new InputLine(
          head,
          new Prompt(prompt, source, text, "", ""),
          completion.asText(),
          thoughtOpen,
          String.valueOf(bad.getMessage()));
    }
  }

  private static boolean thoughtOpen(ObjectNode node, String id) throws BadLineException {
    JsonNode open = node.path(THOUGHT_OPEN);
    if (open.isMissingNode()) {
      return OpenThought.endsInside(node.path(PROMPT).asText());
    }
    if (!open.isBoolean()) {
      throw new BadLineException(
          "needs \"%s\" to be true or false (id %s)".formatted(THOUGHT_OPEN, id));
    }
    return open.asBoolean();
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

  private static String answer(ObjectNode rest, JudgedBy by) throws RowException {
    JsonNode answer = rest.path(ANSWER);
    return switch (by) {
      case JudgedBy.OneAnswer _, JudgedBy.AcceptedTexts _, JudgedBy.AnyAnswer _ ->
          GoldText.of(ANSWER, answer, by);
      case JudgedBy.NamedFields(List<String> names) -> {
        ObjectNode read = JSON.createObjectNode();
        names.stream().filter(rest::has).forEach(name -> read.set(name, rest.get(name)));
        boolean none = read.isEmpty() || (read.size() == 1 && read.has(PROMPT));
        if (none && ValueText.isAbsent(answer)) {
          throw new RowException(
              "needs fields that the verifier reads: " + String.join(", ", names),
              String.join(", ", rest.properties().stream().map(Map.Entry::getKey).toList()));
        }
        yield none ? GoldText.of(ANSWER, answer, by) : read.toString();
      }
      case JudgedBy.AllFields _ -> {
        boolean alone = rest.size() == 1 || (rest.size() == 2 && rest.has(PROMPT));
        yield alone && !ValueText.isAbsent(answer)
            ? GoldText.of(ANSWER, answer, by)
            : rest.isEmpty() ? "" : rest.toString();
      }
    };
  }
}
