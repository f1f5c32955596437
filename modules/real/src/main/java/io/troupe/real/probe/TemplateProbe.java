package io.troupe.real.probe;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.chat.ChatTemplate;
import io.troupe.chat.JinjaChatTemplate;
import io.troupe.chat.Thinking;
import io.troupe.core.supervised.SupervisedExample;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.djl.checkpoint.PretrainedTokenizer;
import io.troupe.tasks.supervised.SupervisedFormat;
import io.troupe.tasks.supervised.SupervisedTokens;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A chat template: {@code {"template", "special", "now"}} opens one, with {@code "folder"}, {@code
 * "vocabulary"} and {@code "end"} beside a tokenizer. Then {@code {"variables", "generate"}} is
 * answered by {@code {"text"}}, and {@code {"row"}} by what supervised training learns of it.
 */
public final class TemplateProbe {
  private static final JsonMapper JSON = new JsonMapper();

  private Optional<ChatTemplate> template = Optional.empty();
  private Optional<Tokenizer> tokenizer = Optional.empty();

  private TemplateProbe() {}

  /** Answers until the end of the input. */
  public static void main(String[] arguments) throws IOException {
    ProbeLines.serve(new TemplateProbe()::answer);
  }

  private JsonNode answer(JsonNode question) throws IOException {
    if (question.has("template")) {
      open(question);
      return ProbeLines.object().put("opened", true);
    }
    return question.has("row") ? learnt(question.path("row")) : rendered(question);
  }

  private void open(JsonNode question) throws IOException {
    Map<String, String> special =
        JSON.convertValue(question.path("special"), new TypeReference<>() {});
    Instant now = Instant.parse(question.path("now").asText());
    template =
        Optional.of(
            JinjaChatTemplate.of(
                question.path("template").asText(), special, Clock.fixed(now, ZoneOffset.UTC)));
    if (question.has("folder")) {
      tokenizer =
          Optional.of(
              PretrainedTokenizer.read(
                  Path.of(question.path("folder").asText()),
                  question.path("vocabulary").asInt(),
                  List.of(question.path("end").asInt())));
    }
  }

  private JsonNode rendered(JsonNode question) {
    Map<String, Object> variables =
        JSON.convertValue(question.path("variables"), new TypeReference<>() {});
    return ProbeLines.object()
        .put(
            "text",
            template
                .orElseThrow()
                .render(List.of(), question.path("generate").asBoolean(), variables));
  }

  private JsonNode learnt(JsonNode row) throws IOException {
    Path file = Files.writeString(Files.createTempFile("row", ".jsonl"), row + "\n");
    ObjectNode answer = ProbeLines.object();
    ArrayNode sequences = answer.putArray("sequences");
    try {
      ChatTemplate chat = Thinking.AUTO.in(template).orElseThrow();
      boolean texts = row.path("prompt").isTextual();
      SupervisedFormat format =
          new SupervisedFormat("messages", "prompt", "completion", "source", !texts, Set.of());
      new SupervisedTokens(chat, tokenizer.orElseThrow())
          .examples(format.read(List.of(file)).getFirst())
          .forEach(each -> sequences.add(sequence(each)));
      return answer;
    } finally {
      Files.delete(file);
    }
  }

  private static JsonNode sequence(SupervisedExample example) {
    ObjectNode sequence = ProbeLines.object();
    sequence.set("prompt", JSON.valueToTree(example.prompt()));
    sequence.set("completion", JSON.valueToTree(example.completion()));
    sequence.set("imitated", JSON.valueToTree(example.imitated()));
    return sequence;
  }
}
