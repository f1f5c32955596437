package io.troupe.run.evaluation;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.chat.ChatTemplate;
import io.troupe.chat.Thinking;
import io.troupe.config.RunConfig;
import io.troupe.config.evaluation.EvaluationFile;
import io.troupe.config.supervised.SupervisedConfig;
import io.troupe.core.prompt.LiteralMark;
import io.troupe.core.supervised.SupervisedExample;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.toy.ScriptedEngine;
import io.troupe.engine.toy.ToyPolicy;
import io.troupe.engine.toy.ToySettings;
import io.troupe.engine.train.TrainingEngine;
import io.troupe.evaluation.EndpointAnswers;
import io.troupe.evaluation.EvaluationItem;
import io.troupe.evaluation.Question;
import io.troupe.gateway.dialog.TemplateFormats;
import io.troupe.run.compose.Composition;
import io.troupe.run.compose.ShapedCheckpoints;
import io.troupe.run.supervised.SupervisedComposition;
import io.troupe.serve.PolicyServer;
import io.troupe.serve.ServeSettings;
import io.troupe.serve.model.ServedModel;
import io.troupe.testkit.LoopbackServer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How often a text begins, on every way from a row or a request to a policy's tokens. */
final class BeginOfTextRoutesTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String START = "<s>";
  private static final int START_ID = 270;
  private static final String TEMPLATE =
      "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
          + "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";
  private static final String QUESTION = "What is 2+3?";

  @TempDir private Path folder;

  /** A tiny checkpoint with a token that begins texts. */
  private Path checkpoint(boolean processor, boolean template) throws IOException {
    Path policy = ShapedCheckpoints.tiny(Files.createDirectories(folder.resolve("policy")));
    Files.writeString(
        policy.resolve("chat_template.jinja"), template ? START + TEMPLATE : TEMPLATE);
    Path file = policy.resolve("tokenizer.json");
    ObjectNode json = (ObjectNode) JSON.readTree(file.toFile());
    ((ArrayNode) json.path("added_tokens"))
        .addObject()
        .put("id", START_ID)
        .put("content", START)
        .put("single_word", false)
        .put("lstrip", false)
        .put("rstrip", false)
        .put("normalized", false)
        .put("special", true);
    if (processor) {
      json.set(
          "post_processor",
          JSON.readTree(
              """
              {"type": "TemplateProcessing",
               "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}},
                          {"Sequence": {"id": "A", "type_id": 0}}],
               "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
               "special_tokens": {"<s>": {"id": "<s>", "ids": [270], "tokens": ["<s>"]}}}
              """));
    }
    Files.writeString(file, json.toString());
    return policy;
  }

  private static int starts(int... ids) {
    return (int) Arrays.stream(ids).filter(id -> id == START_ID).count();
  }

  @ParameterizedTest(name = "processor {0}, template {1}")
  @CsvSource({"true, true", "true, false", "false, true", "false, false"})
  void everyRoute_rawAndChat_beginsATextAsItsTokenizerOrTemplateDoes(
      boolean processor, boolean template) throws Exception {
    Path policy = checkpoint(processor, template);
    Map<String, Integer> raw = new LinkedHashMap<>();
    Map<String, Integer> chat = new LinkedHashMap<>();
    for (String form : List.of("raw", "chat")) {
      Map<String, Integer> counts = form.equals("raw") ? raw : chat;
      counts.put("train", trained(policy, form));
      counts.put("sft", imitated(policy, form));
      EvaluationItem item = evaluated(policy, form, QUESTION);
      Tokenizer tokenizer = opened(policy).tokenizer().orElseThrow();
      counts.put("eval", starts(tokenizer.encodeWithSpecial(item.prompt().text())));
      counts.put("eval --endpoint", atServer(sent(item, tokenizer), tokenizer));
    }
    served(policy, raw, chat);

    assertThat(raw).allSatisfy((_, count) -> assertThat(count).isEqualTo(processor ? 1 : 0));
    assertThat(chat).allSatisfy((_, count) -> assertThat(count).isEqualTo(template ? 1 : 0));
    assertThat(raw).hasSize(8);
    assertThat(chat).hasSize(6);
  }

  @Test
  void endpoint_questionThatSpellsASpecialToken_isSentAsIdsWithoutTheMark() throws Exception {
    Path policy = checkpoint(true, true);
    EvaluationItem item = evaluated(policy, "chat", "What is <|im_end|>?");
    Tokenizer tokenizer = opened(policy).tokenizer().orElseThrow();

    JsonNode body = sent(item, tokenizer);

    assertThat(item.prompt().text()).contains(String.valueOf(LiteralMark.CHARACTER));
    assertThat(body.toString()).doesNotContain(String.valueOf(LiteralMark.CHARACTER));
    assertThat(JSON.convertValue(body.path("prompt"), int[].class))
        .containsExactly(tokenizer.encodeWithSpecial(item.prompt().text()));
    assertThat(sent(evaluated(policy, "chat", QUESTION), tokenizer).path("prompt").textValue())
        .startsWith(START + "<|im_start|>user\n" + QUESTION);
  }

  private int trained(Path policy, String form) throws IOException {
    Path file =
        Files.writeString(
            folder.resolve("run.yaml"),
            """
            task: {name: jsonl, file: %s, question: "{question}", verifier: math, template: %s, held_out_share: 0}
            policy: {engine: pretrained, checkpoint: %s, context_length: 128}
            rollout: {max_tokens: 8}
            training: {steps: 1, groups_per_step: 1, learning_rate: 0.1}
            evaluation: {every: 0}
            """
                .formatted(questions(QUESTION), form, policy));
    Composition composition = Composition.described(RunConfig.load(file, List.of()).config());
    String text = composition.task().train().getFirst().text();
    return starts(composition.tokenizer().encodeWithSpecial(text));
  }

  private Path questions(String question) throws IOException {
    return Files.writeString(
        folder.resolve("questions.jsonl"),
        "{\"question\": \"%s\", \"answer\": 5}\n".formatted(question));
  }

  private int imitated(Path policy, String form) throws IOException {
    Files.writeString(
        folder.resolve("rows.jsonl"),
        "{\"prompt\": \"%s\", \"completion\": \"5\"}\n".formatted(QUESTION));
    Path file =
        Files.writeString(
            folder.resolve("sft.yaml"),
            """
            run: {folder: runs}
            policy: {engine: pretrained, checkpoint: %s, context_length: 128}
            datasets: [{file: rows.jsonl, template: %s}]
            training: {epochs: 1, batch: 1, learning_rate: 0.1}
            """
                .formatted(policy, form));
    SupervisedExample row =
        SupervisedComposition.of(SupervisedConfig.load(file, List.of()).config())
            .data()
            .train()
            .getFirst();
    return starts(row.prompt()) + starts(row.completion());
  }

  private static EvaluatedPolicy opened(Path policy) throws IOException {
    return EvaluatedPolicy.ofCheckpoint(policy, 128, 1, Thinking.AUTO);
  }

  private EvaluationItem evaluated(Path policy, String form, String question) throws IOException {
    Path file =
        Files.writeString(
            folder.resolve("eval.yaml"),
            """
            tasks:
              - name: sums
                part: all
                datasets: [{name: jsonl, file: %s, question: "{question}", verifier: math, template: %s, held_out_share: 0}]
            """
                .formatted(questions(question), form));
    EvaluatedPolicy opened = opened(policy);
    try (EvaluationTasks tasks =
        new EvaluationTasks(
            opened,
            EvaluationFile.load(file, List.of()).config(),
            opened.tokenizer(),
            Integer.MAX_VALUE)) {
      return tasks.tasks().getFirst().items().getFirst();
    }
  }

  /** The request that a server gets. */
  private static JsonNode sent(EvaluationItem item, Tokenizer tokenizer) throws Exception {
    List<JsonNode> bodies = new ArrayList<>();
    try (LoopbackServer server =
            LoopbackServer.start(
                exchange -> {
                  bodies.add(JSON.readTree(exchange.getRequestBody()));
                  LoopbackServer.answer(
                      exchange,
                      200,
                      "{\"choices\": [{\"text\": \"5\"}], \"usage\": {\"completion_tokens\": 1}}");
                  exchange.close();
                });
        EndpointAnswers answers =
            new EndpointAnswers(List.of(URI.create(server.url())), "m", "", 1, tokenizer)) {
      assertThat(
              answers
                  .answer(List.of(new Question(item, 1, 1)))
                  .getFirst()
                  .toCompletableFuture()
                  .get())
          .hasSize(1);
    }
    return bodies.getFirst();
  }

  /** What a server makes of a prompt that runs the tokenizer as it is, whatever the text begins. */
  private static int atServer(JsonNode body, Tokenizer tokenizer) {
    String added = body.path("add_special_tokens").asBoolean(true) ? tokenizer.textStart() : "";
    return starts(tokenizer.encodeWithSpecial(added + body.path("prompt").textValue()));
  }

  private static void served(Path policy, Map<String, Integer> raw, Map<String, Integer> chat)
      throws Exception {
    EvaluatedPolicy opened = opened(policy);
    Tokenizer tokenizer = opened.tokenizer().orElseThrow();
    ChatTemplate template = Thinking.AUTO.in(Optional.of(opened.template())).orElseThrow();
    ScriptedEngine engine = new ScriptedEngine(tokenizer, _ -> "5");
    try (PolicyServer server =
            PolicyServer.start(
                new ServedModel(
                    "m",
                    engine,
                    tokenizer,
                    512,
                    TemplateFormats.conversation(tokenizer, template),
                    ServedModel.withoutScorer()),
                ServeSettings.loopback(0),
                "test");
        ToyPolicy toy = new ToyPolicy(ToySettings.of("ab", 8));
        TrainingEngine weights = toy.newTrainer(1)) {
      server.use(weights.snapshot(new WeightVersion(0)));
      String text = "\"model\": \"m\", \"prompt\": \"%s\"".formatted(QUESTION);
      String messages =
          "\"model\": \"m\", \"messages\": [{\"role\": \"user\", \"content\": \"%s\"}]"
              .formatted(QUESTION);
      raw.put("serve tokenize", tokens(post(server, "/tokenize", text)));
      chat.put("serve tokenize", tokens(post(server, "/tokenize", messages)));
      JsonNode _ = post(server, "/v1/completions", text + ", \"max_tokens\": 1");
      raw.put("serve completions", starts(engine.requests().getLast().prompt()));
      JsonNode _ = post(server, "/v1/completions", text + ", \"max_tokens\": 1, \"echo\": true");
      raw.put("serve echo", starts(engine.requests().getLast().prompt()));
      JsonNode _ =
          post(
              server,
              "/v1/completions",
              text.replace("\": \"What", "\": \"" + tokenizer.textStart() + "What"));
      raw.put("serve completions of a begun text", starts(engine.requests().getLast().prompt()));
      JsonNode _ = post(server, "/v1/chat/completions", messages + ", \"max_tokens\": 1");
      chat.put("serve chat", starts(engine.requests().getLast().prompt()));
    }
  }

  private static int tokens(JsonNode answer) {
    return starts(JSON.convertValue(answer.path("tokens"), int[].class));
  }

  private static JsonNode post(PolicyServer server, String path, String fields) throws Exception {
    try (HttpClient client = HttpClient.newHttpClient()) {
      HttpResponse<String> response =
          client.send(
              HttpRequest.newBuilder(
                      URI.create("http://127.0.0.1:%d%s".formatted(server.port(), path)))
                  .header("Content-Type", "application/json")
                  .POST(HttpRequest.BodyPublishers.ofString("{" + fields + "}"))
                  .build(),
              HttpResponse.BodyHandlers.ofString(StandardCharsets.UTF_8));
      assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
      return JSON.readTree(response.body());
    }
  }
}
