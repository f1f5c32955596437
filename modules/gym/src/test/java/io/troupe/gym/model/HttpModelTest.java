package io.troupe.gym.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.gym.loop.Spend;
import io.troupe.testkit.LoopbackServer;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class HttpModelTest {
  private static final ModelRequest ASKED = new ModelRequest("sys", "question", "1");

  private record Canned(int status, String body) {}

  private final Deque<Canned> answers = new ArrayDeque<>();
  private final List<String> bodies = new ArrayList<>();
  private final List<String> keys = new ArrayList<>();
  private final List<Duration> pauses = new ArrayList<>();
  @AutoClose private LoopbackServer server;

  @BeforeEach
  void start() throws IOException {
    server =
        LoopbackServer.start(
            exchange -> {
              synchronized (this) {
                bodies.add(
                    exchange.getRequestURI()
                        + " "
                        + new String(
                            exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
                keys.add(
                    exchange.getRequestHeaders().getFirst("Authorization")
                        + " "
                        + exchange.getRequestHeaders().getFirst("x-api-key"));
                Canned next = answers.removeFirst();
                if (next.status() == 429) {
                  exchange.getResponseHeaders().add("Retry-After", "7");
                }
                LoopbackServer.answer(exchange, next.status(), next.body());
                exchange.close();
              }
            });
  }

  private HttpModel model(ModelProtocol protocol) {
    URI url = URI.create(server.url() + "/v1/");
    ModelSettings settings =
        new ModelSettings(
            protocol,
            url,
            "m:1",
            Optional.of("secret"),
            0.5,
            100,
            3,
            new ModelSettings.Prices(3, 15, Duration.ofSeconds(20)));
    return new HttpModel(settings, RequestAuthorization.byKey(settings), pauses::add);
  }

  private void answer(int status, String body) {
    answers.add(new Canned(status, body));
  }

  @Test
  void ask_openai_sendsTheChatAndCountsTheCost() throws IOException {
    answer(
        200,
        "{\"choices\":[{\"message\":{\"content\":\"yes\"}}],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":2}}");
    try (HttpModel model = model(ModelProtocol.OPENAI)) {
      assertThat(model.ask(ASKED)).isEqualTo(new ModelReply("yes", new Spend(1, 10, 2, 60)));
    }
    assertThat(bodies)
        .containsExactly(
            "/v1/chat/completions {\"model\":\"m:1\",\"max_tokens\":100,\"temperature\":0.5,\"messages\":[{\"role\":\"system\",\"content\":\"sys\"},{\"role\":\"user\",\"content\":\"question\"}]}");
    assertThat(keys).containsExactly("Bearer secret null");
  }

  @Test
  void ask_anthropic_sendsItsMessage() throws IOException {
    answer(
        200,
        "{\"content\":[{\"type\":\"text\",\"text\":\"yes\"}],\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}");
    try (HttpModel model = model(ModelProtocol.ANTHROPIC)) {
      assertThat(model.ask(ASKED).spend()).isEqualTo(new Spend(1, 1, 1, 18));
    }
    assertThat(bodies.getFirst()).contains("/v1/messages", "\"system\":\"sys\"");
    assertThat(keys).containsExactly("null secret");
  }

  @Test
  void ask_bedrock_conversesWithTheModelOfThePath() throws IOException {
    answer(
        200,
        "{\"output\":{\"message\":{\"role\":\"assistant\",\"content\":[{\"text\":\"yes\"}]}},\"stopReason\":\"end_turn\",\"usage\":{\"inputTokens\":4,\"outputTokens\":2,\"totalTokens\":6}}");
    try (HttpModel model = model(ModelProtocol.BEDROCK)) {
      assertThat(model.ask(ASKED)).isEqualTo(new ModelReply("yes", new Spend(1, 4, 2, 42)));
    }
    assertThat(bodies)
        .containsExactly(
            "/v1/model/m%3A1/converse {\"system\":[{\"text\":\"sys\"}],\"messages\":[{\"role\":\"user\",\"content\":[{\"text\":\"question\"}]}],\"inferenceConfig\":{\"maxTokens\":100,\"temperature\":0.5}}");
    assertThat(keys).containsExactly("Bearer secret null");
  }

  @Test
  void ask_withoutCredentials_isNotSentAndSaysWhatToSet() {
    ModelSettings settings =
        new ModelSettings(
            ModelProtocol.BEDROCK,
            URI.create(server.url()),
            "m",
            Optional.empty(),
            0,
            1,
            3,
            new ModelSettings.Prices(0, 0, Duration.ofSeconds(20)));
    RequestAuthorization none =
        (_, _) -> {
          throw new IOException("no credentials; set AWS_PROFILE");
        };
    try (HttpModel model = new HttpModel(settings, none, pauses::add)) {
      assertThatThrownBy(() -> model.ask(ASKED)).hasMessageContaining("set AWS_PROFILE");
    }
    assertThat(bodies).isEmpty();
  }

  @Test
  void ask_aBusyServer_isAskedAgainAfterItsPause() throws IOException {
    answer(429, "slow down");
    answer(503, "away");
    answer(200, "{\"choices\":[{\"message\":{\"content\":\"yes\"}}]}");
    try (HttpModel model = model(ModelProtocol.OPENAI)) {
      assertThat(model.ask(ASKED).text()).isEqualTo("yes");
    }
    assertThat(pauses).containsExactly(Duration.ofSeconds(7), Duration.ofSeconds(2));
  }

  @Test
  void ask_aServerThatStaysBusyOrRefuses_failsWithTheReasonAndWithoutTheKey() {
    try (HttpModel model = model(ModelProtocol.OPENAI)) {
      answer(500, "one");
      answer(500, "two");
      answer(500, "three");
      assertThatThrownBy(() -> model.ask(ASKED))
          .hasMessageContaining("asked 3 times: HTTP 500: three")
          .hasMessageContaining("--resume continues");
      answer(401, "no such key");
      assertThatThrownBy(() -> model.ask(ASKED))
          .hasMessageContaining("refuses: HTTP 401: no such key")
          .hasMessageNotContaining("secret");
    }
    assertThat(bodies).hasSize(4);
  }
}
