package io.troupe.verifiers.pool;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.util.RawValue;
import io.troupe.core.prompt.DataRow;
import io.troupe.core.prompt.LiteralMark;
import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.core.reward.Check;
import io.troupe.core.reward.Verdict;
import io.troupe.verifiers.Excerpt;
import io.troupe.verifiers.JudgedText;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The messages of a pool and a verifier's process: JSON objects, one a line, in UTF-8.
 *
 * <pre>
 * process   {"ready": true}                                      once, when it can be asked
 * pool      {"seq": 1, "id": …, "source": …, "prompt": …, "answer": …, "completion": …, "thought_open": …,
 *            "row": {…}, "row_left_out": […]}
 * process   {"seq": 1, "reward": 0.5, "extracted": …, "reason": …, "checks": [{"name": …, "passed": …}]}
 *       or  {"seq": 1, "unverifiable": "bad_input", "reason": …}
 * </pre>
 *
 * <p>Only {@code seq} and {@code reward} (or {@code unverifiable}) must be in an answer. {@code
 * seq} is repeated so that an answer can never be taken for another question's. {@code row} is
 * there always, {@code row_left_out} where it names a column.
 */
final class VerifierProtocol {
  /** Longest answer in bytes; a longer line is no verdict. */
  static final int LONGEST_ANSWER = 4 << 20;

  /*
   * Completions may contain unpaired surrogates, which UTF-8 cannot encode and escapes can; a long
   * completion is one long string.
   */
  private static final JsonMapper JSON =
      JsonMapper.builder(
              JsonFactory.builder()
                  .streamReadConstraints(
                      StreamReadConstraints.builder().maxStringLength(Integer.MAX_VALUE).build())
                  .build())
          .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS) // Python writes NaN
          .enable(JsonWriteFeature.ESCAPE_NON_ASCII)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build();

  /** Reads the numbers of rows with all their digits. */
  private static final JsonMapper QUESTIONS =
      JsonMapper.builder(
              JsonFactory.builder()
                  .streamReadConstraints(
                      StreamReadConstraints.builder()
                          .maxStringLength(Integer.MAX_VALUE)
                          .maxNumberLength(Integer.MAX_VALUE)
                          .build())
                  .build())
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
          .build();

  private static final String ROW = "row";
  private static final String ROW_LEFT_OUT = "row_left_out";

  private VerifierProtocol() {}

  /** A question to a verifier's process. */
  record Question(long seq, Prompt prompt, JudgedText completion) {}

  /** The answer of a process. */
  record Answer(long seq, Verdict verdict) {}

  static String ready() {
    return "{\"ready\": true}";
  }

  static boolean isReady(String line) {
    return tree(line).filter(node -> node.path("ready").asBoolean()).isPresent();
  }

  static String write(Question question) {
    ObjectNode node = JSON.createObjectNode();
    node.put("seq", question.seq());
    node.put("id", question.prompt().id().value());
    node.put("source", question.prompt().source());
    node.put("prompt", LiteralMark.removed(question.prompt().text()));
    node.put("answer", question.prompt().answer());
    node.put("completion", question.completion().text());
    node.put("thought_open", question.completion().thoughtOpen());
    if (question.completion().tagged()) {
      node.put("tagged", true);
    }
    DataRow row = question.prompt().row();
    node.putRawValue(ROW, new RawValue(ascii(row.json())));
    if (!row.leftOut().isEmpty()) {
      row.leftOut().forEach(node.putArray(ROW_LEFT_OUT)::add);
    }
    return text(node);
  }

  /** Returns the same JSON in ASCII: other characters occur in its texts only. */
  private static String ascii(String json) {
    StringBuilder ascii = new StringBuilder(json.length());
    for (int i = 0; i < json.length(); i++) {
      char each = json.charAt(i);
      if (each < 0x80) {
        ascii.append(each);
      } else {
        ascii.append("\\u%04x".formatted((int) each));
      }
    }
    return ascii.toString();
  }

  static Question question(String line) {
    JsonNode node =
        tree(QUESTIONS, line)
            .orElseThrow(() -> new IllegalArgumentException("no JSON object: " + line));
    return new Question(
        node.path("seq").asLong(),
        new Prompt(
            new PromptId(node.path("id").asText()),
            node.path("source").asText(),
            node.path("prompt").asText(),
            node.path("answer").asText(),
            "",
            new DataRow(
                node.path(ROW).toString(),
                node.path(ROW_LEFT_OUT).valueStream().map(JsonNode::asText).toList())),
        new JudgedText(
            node.path("completion").asText(),
            node.path("thought_open").asBoolean(),
            node.path("tagged").asBoolean()));
  }

  static String write(Answer answer) {
    ObjectNode node = JSON.createObjectNode();
    node.put("seq", answer.seq());
    switch (answer.verdict()) {
      case Verdict.Scored(
              double reward,
              String extracted,
              String reason,
              List<Check> checks,
              var _) -> {
        node.put("reward", reward);
        node.put("extracted", extracted);
        node.put("reason", reason);
        ArrayNode list = node.putArray("checks");
        for (Check check : checks) {
          list.addObject()
              .put("name", check.name())
              .put("passed", check.passed())
              .put("passed_loosely", check.passedLoosely());
        }
      }
      case Verdict.Unverifiable(Verdict.Cause cause, String reason) -> {
        node.put("unverifiable", cause.name().toLowerCase(Locale.ROOT));
        node.put("reason", reason);
      }
    }
    return text(node);
  }

  /** The answer on a line; empty if the line is no answer at all, but noise. */
  static Optional<Answer> answer(String line) {
    return tree(line)
        .filter(node -> node.path("seq").isIntegralNumber())
        .map(VerifierProtocol::answer);
  }

  private static Answer answer(JsonNode node) {
    String reason = node.path("reason").asText();
    if (node.has("unverifiable")) {
      return cause(node.path("unverifiable").asText())
          .map(cause -> new Answer(seq(node), new Verdict.Unverifiable(cause, reason)))
          .orElseGet(
              () ->
                  broken(
                      node,
                      "\"unverifiable\" must be timeout, crash, away or bad_input, not "
                          + Excerpt.of(node.path("unverifiable").toString())));
    }
    JsonNode given = node.path("reward");
    if (!given.isNumber() || !Double.isFinite(given.asDouble())) {
      return broken(
          node,
          given.isMissingNode()
              ? "an answer must hold \"reward\" or \"unverifiable\""
              : "\"reward\" must be a finite number, not "
                  + Excerpt.of(given.isNumber() ? given.asText() : given.toString()));
    }
    double reward = given.asDouble();
    List<Check> checks = new ArrayList<>();
    for (JsonNode check : node.path("checks")) {
      boolean passed = check.path("passed").asBoolean();
      checks.add(
          new Check(
              check.path("name").asText(), passed, check.path("passed_loosely").asBoolean(passed)));
    }
    return new Answer(
        seq(node), new Verdict.Scored(reward, node.path("extracted").asText(), reason, checks));
  }

  /** The outcome of an answer that breaks a rule; its process is as good as before. */
  private static Answer broken(JsonNode node, String rule) {
    return new Answer(
        seq(node),
        new Verdict.Unverifiable(
            Verdict.Cause.CRASH, "the verifier's answer breaks a rule: " + rule));
  }

  private static long seq(JsonNode node) {
    return node.path("seq").asLong();
  }

  private static Optional<Verdict.Cause> cause(String name) {
    for (Verdict.Cause cause : Verdict.Cause.values()) {
      if (cause.name().equalsIgnoreCase(name)) {
        return Optional.of(cause);
      }
    }
    return Optional.empty();
  }

  private static Optional<JsonNode> tree(String line) {
    return tree(JSON, line);
  }

  private static Optional<JsonNode> tree(JsonMapper mapper, String line) {
    try {
      JsonNode node = mapper.readTree(line);
      return Optional.ofNullable(node).filter(JsonNode::isObject);
    } catch (JsonProcessingException notJson) {
      return Optional.empty();
    }
  }

  private static String text(ObjectNode node) {
    try {
      return JSON.writeValueAsString(node);
    } catch (JsonProcessingException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
