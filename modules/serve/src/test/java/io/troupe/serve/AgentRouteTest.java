package io.troupe.serve;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.engine.CharacterTokenizer;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.protocol.JsonFields;
import io.troupe.engine.toy.ScriptedEngine;
import io.troupe.engine.toy.ToyPolicy;
import io.troupe.gateway.dialog.Conversation;
import io.troupe.gateway.dialog.PlainConversation;
import io.troupe.serve.model.ServedModel;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Agents ask a server, which is no run's. */
class AgentRouteTest {
  private static final CharacterTokenizer TOKENIZER =
      new CharacterTokenizer("[]abcdefghilnoprstuw 0123456789*=;+");
  private static final int CONTEXT = 48;
  private static final String PARAMETERS =
      "{\"type\":\"object\",\"properties\":{\"expression\":{\"type\":\"string\"}}}";
  private static final String CHAT_TOOLS =
      "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"calc\",\"parameters\":%s}}]"
          .formatted(PARAMETERS);
  private static final String MESSAGES_TOOLS =
      "\"tools\":[{\"name\":\"calc\",\"input_schema\":%s}]".formatted(PARAMETERS);
  private static final String RESPONSES_TOOLS =
      "\"tools\":[{\"type\":\"function\",\"name\":\"calc\",\"parameters\":%s}]"
          .formatted(PARAMETERS);

  private final HttpClient client = HttpClient.newHttpClient();

  /** Calls a calculator for a question, and repeats a result. */
  private final ScriptedEngine engine =
      new ScriptedEngine(TOKENIZER, context -> context.endsWith(";") ? "6" : "[calc 2*3]");

  private final List<PolicyServer> servers = new ArrayList<>();

  @AfterEach
  void close() {
    servers.forEach(PolicyServer::close);
    client.close();
  }

  private String serve(ServeSettings settings, Conversation conversation) throws IOException {
    PolicyServer server =
        PolicyServer.start(
            new ServedModel(
                "policy", engine, TOKENIZER, CONTEXT, conversation, ServedModel.withoutScorer()),
            settings,
            "test");
    servers.add(server);
    try (ToyPolicy toy = ToyFixture.policy(Duration.ZERO)) {
      server.use(ToyFixture.weights(toy, 0));
    }
    return "http://127.0.0.1:" + server.port();
  }

  private String serve() throws IOException {
    return serve(ServeSettings.loopback(0), new PlainConversation(TOKENIZER));
  }

  private HttpResponse<String> post(String url, String body, String... headers)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(url)).POST(HttpRequest.BodyPublishers.ofString(body));
    if (headers.length == 0) {
      request.header("Content-Type", "application/json");
    } else {
      request.headers(headers);
    }
    return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  private static JsonNode json(HttpResponse<String> response) throws Exception {
    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    return JsonFields.parse(response.body());
  }

  @Test
  void chat_withoutTools_isAnsweredUnderAnyName() throws Exception {
    String url = serve() + "/v1/chat/completions";
    String ask = "{\"model\":\"%s\",\"messages\":[{\"role\":\"user\",\"content\":\"6;\"}]%s}";
    for (String model : List.of("gpt-5", "policy")) {
      JsonNode answered = json(post(url, ask.formatted(model, "")));
      assertThat(answered.at("/choices/0/message/content").asText()).isEqualTo("6");
      assertThat(answered.at("/model").asText()).isEqualTo(model);
      assertThat(post(url, ask.formatted(model, ",\"stream\":true")).body())
          .contains("\"delta\":{\"content\":\"6\"}")
          .endsWith("data: [DONE]\n\n");
    }
  }

  @Test
  void models_one_isItsEntry() throws Exception {
    String url = serve() + "/v1/models/";
    HttpRequest.Builder get = HttpRequest.newBuilder(URI.create(url + "policy"));
    assertThat(
            json(client.send(get.build(), HttpResponse.BodyHandlers.ofString()))
                .path("max_model_len")
                .asInt())
        .isEqualTo(CONTEXT);
    HttpRequest.Builder other = HttpRequest.newBuilder(URI.create(url + "gpt-5"));
    assertThat(client.send(other.build(), HttpResponse.BodyHandlers.ofString()).statusCode())
        .isEqualTo(404);
  }

  @Test
  void chat_toolAndItsResult_areAskedWithTheSampledIds() throws Exception {
    String url = serve() + "/v1/chat/completions";
    String question = "{\"role\":\"user\",\"content\":\"2*3=\"}";
    JsonNode called =
        json(
            post(
                url, "{\"model\":\"gpt-5\",\"messages\":[%s],%s}".formatted(question, CHAT_TOOLS)));
    JsonNode message = called.at("/choices/0/message");
    assertThat(message.at("/tool_calls/0/function/arguments").asText())
        .isEqualTo("{\"expression\":\"2*3\"}");

    JsonNode answered =
        json(
            post(
                url,
                "{\"messages\":[%s,%s,{\"role\":\"tool\",\"tool_call_id\":\"%s\",\"content\":\"6\"}],%s}"
                    .formatted(
                        question, message, message.at("/tool_calls/0/id").asText(), CHAT_TOOLS)));
    assertThat(answered.at("/choices/0/message/content").asText()).isEqualTo("6");
    assertThat(engine.asked()).containsExactly("2*3=", "2*3=[calc 2*3]6;");
    assertThat(answered.at("/usage/prompt_tokens").asInt()).isEqualTo(16);
  }

  @ParameterizedTest
  @CsvSource({"false, \"tool_use\"", "true, event: message_stop"})
  void messages_tool_isCalled(boolean stream, String end) throws Exception {
    String body =
        post(
                serve() + "/v1/messages?beta=true",
                "{\"model\":\"claude-opus-4-8\",\"max_tokens\":9,\"stream\":%s,\"messages\":[{\"role\":\"user\",\"content\":\"2*3=\"}],%s}"
                    .formatted(stream, MESSAGES_TOOLS))
            .body();
    assertThat(body).contains("\"name\":\"calc\"", "call_t0_0", end);
  }

  @ParameterizedTest
  @CsvSource({"false, \"status\":\"completed\"", "true, event: response.completed"})
  void responses_tool_isCalled(boolean stream, String end) throws Exception {
    String body =
        post(
                serve() + "/v1/responses",
                "{\"input\":\"2*3=\",\"stream\":%s,%s}".formatted(stream, RESPONSES_TOOLS))
            .body();
    assertThat(body).contains("\"type\":\"function_call\"", "call_t0_0", end);
  }

  @Test
  void count_conversation_isItsTokens() throws Exception {
    JsonNode counted =
        json(
            post(
                serve() + "/v1/messages/count_tokens",
                "{\"messages\":[{\"role\":\"user\",\"content\":\"2*3=\"}]}"));
    assertThat(counted.path("input_tokens").asInt()).isEqualTo(4);
    assertThat(engine.asked()).isEmpty();
  }

  @Test
  void settings_ofARequest_reachTheEngine() throws Exception {
    post(
        serve() + "/v1/chat/completions",
        "{\"messages\":[{\"role\":\"user\",\"content\":\"2*3=\"}],\"temperature\":0.5,\"top_p\":0.9,\"seed\":7,\"max_completion_tokens\":5,\"stop\":\"+\",%s}"
            .formatted(CHAT_TOOLS));
    SampleRequest request = engine.requests().getFirst();
    assertThat(request.seed()).isEqualTo(7);
    assertThat(request.settings().temperature()).isEqualTo(0.5);
    assertThat(request.settings().topP()).isEqualTo(0.9);
    assertThat(request.settings().maxTokens()).isEqualTo(5);
    assertThat(request.settings().stops()).containsExactly("+", "]");
  }

  @Test
  void anyRoute_wrongKeyOrSite_isRefusedInItsDialect() throws Exception {
    String url = serve(ServeSettings.loopback(0).withKey("k"), new PlainConversation(TOKENIZER));
    String body = "{\"max_tokens\":9,\"messages\":[{\"role\":\"user\",\"content\":\"2*3=\"}]}";
    String type = "Content-Type";
    String json = "application/json";

    HttpResponse<String> wrong = post(url + "/v1/messages", body, type, json, "x-api-key", "other");
    assertThat(wrong.statusCode()).isEqualTo(401);
    assertThat(wrong.body()).startsWith("{\"type\":\"error\"").contains("authentication_error");
    assertThat(post(url + "/v1/responses", body, type, json).statusCode()).isEqualTo(401);
    assertThat(post(url + "/v1/messages", body, type, json, "x-api-key", "k").statusCode())
        .isEqualTo(200);
    assertThat(
            post(url + "/v1/messages", body, type, json, "Authorization", "Bearer k").statusCode())
        .isEqualTo(200);
    assertThat(post(url + "/v1/messages", body, type, "text/plain", "x-api-key", "k").statusCode())
        .isEqualTo(415);
    assertThat(
            post(
                    url + "/v1/messages",
                    body,
                    type,
                    json,
                    "x-api-key",
                    "k",
                    "Origin",
                    "http://evil.example")
                .statusCode())
        .isEqualTo(403);
  }

  @Test
  void chat_longerThanTheContext_isRefusedByItsCode() throws Exception {
    HttpResponse<String> refused =
        post(
            serve() + "/v1/chat/completions",
            "{\"messages\":[{\"role\":\"user\",\"content\":\"%s\"}],%s}"
                .formatted("1".repeat(CONTEXT), CHAT_TOOLS));
    assertThat(refused.statusCode()).isEqualTo(400);
    assertThat(refused.body()).contains("context_length_exceeded", "48 tokens");
  }

  @Test
  void anyRoute_withoutTemplate_isRefusedWithTheWayOut() throws Exception {
    String url = serve(ServeSettings.loopback(0), ServedModel.withoutTemplate());
    HttpResponse<String> refused = post(url + "/v1/responses", "{\"input\":\"2*3=\"}");
    assertThat(refused.statusCode()).isEqualTo(400);
    assertThat(refused.body()).contains("no chat template; send the text to /v1/completions");
  }
}
