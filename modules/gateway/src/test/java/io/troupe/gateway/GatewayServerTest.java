package io.troupe.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.completion.Completion;
import io.troupe.core.rollout.Episode;
import io.troupe.core.rollout.StopReason;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.TokenListener;
import io.troupe.gateway.GatewayFixture.ScriptedEngine;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class GatewayServerTest {
  private static final String KEY = "k1";
  private static final String ASK = "{\"messages\":[{\"role\":\"user\",\"content\":\"2*3=\"}]%s}";

  private GatewayServer server;
  private final HttpClient client = HttpClient.newHttpClient();

  @BeforeEach
  void start() throws IOException {
    server = GatewayServer.start();
  }

  @AfterEach
  void stop() {
    client.close();
    server.close();
  }

  private GatewaySession open(ScriptedEngine engine, int context, int turns) {
    GatewaySession session =
        GatewaySession.of(
            "g3-9-0",
            KEY,
            GatewayFixture.LEASE,
            GatewayFixture.rules(context, turns),
            new SamplingSettings(1, 16),
            new GatewaySession.Policy() {
              @Override
              public CompletionStage<Completion> sample(
                  int[] request, SamplingSettings settings, int number, TokenListener listener) {
                return engine
                    .sample(
                        List.of(
                            new SampleRequest(
                                GatewayFixture.LEASE, request, 1, settings, 0, listener)))
                    .getFirst()
                    .thenApply(List::getFirst);
              }

              @Override
              public void cancel() {
                engine.cancel(GatewayFixture.LEASE);
              }
            });
    server.open(session);
    return session;
  }

  private HttpResponse<String> post(
      GatewaySession session, String key, String body, String... headers)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(server.url(session) + "/v1/chat/completions"))
            .header("Content-Type", "application/json")
            .header("Authorization", "Bearer " + key)
            .POST(HttpRequest.BodyPublishers.ofString(body));
    for (int i = 0; i < headers.length; i += 2) {
      request.header(headers[i], headers[i + 1]);
    }
    return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  /** Answers 0, 1, 2 …, so that every draw is another. */
  private static ScriptedEngine counting() {
    AtomicInteger draws = new AtomicInteger();
    return ScriptedEngine.of(_ -> Integer.toString(draws.getAndIncrement()));
  }

  @Test
  void answer_streamOfEvents_carriesWhatWasSampled() throws Exception {
    GatewaySession session = open(ScriptedEngine.of(_ -> "6"), 48, 4);
    HttpResponse<String> response = post(session, KEY, ASK.formatted(",\"stream\":true"));
    assertThat(response.headers().firstValue("Content-Type"))
        .contains("text/event-stream; charset=utf-8");
    assertThat(response.body())
        .contains("\"delta\":{\"content\":\"6\"}")
        .endsWith("data: [DONE]\n\n");
    assertThat(session.end(StopReason.COMPLETED).map(Episode::sampledTokens)).contains(1);
  }

  /** The answer ends when the agent has read its first token. */
  @Test
  void answer_streamOfAnAnswerThatIsSampled_carriesItsTokensBeforeItsEnd() throws Exception {
    CompletableFuture<Completion> end = new CompletableFuture<>();
    GatewaySession session = open(new SlowEngine(end), 48, 4);
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(server.url(session) + "/v1/chat/completions"))
            .header("Content-Type", "application/json")
            .header("Authorization", "Bearer " + KEY)
            .POST(HttpRequest.BodyPublishers.ofString(ASK.formatted(",\"stream\":true")))
            .build();
    StringBuilder read = new StringBuilder();
    try (Stream<String> lines = client.send(request, HttpResponse.BodyHandlers.ofLines()).body()) {
      lines.forEach(
          line -> {
            read.append(line).append('\n');
            if (line.contains("\"content\":\"1\"")) {
              end.complete(GatewayFixture.completion("12"));
            }
          });
    }
    assertThat(read.toString()).contains("\"content\":\"2\"").endsWith("data: [DONE]\n\n");
    assertThat(session.end(StopReason.COMPLETED).map(Episode::sampledTokens)).contains(2);
  }

  /** Samples one token, and the rest when it is told. */
  private static final class SlowEngine extends GatewayFixture.ScriptedEngine {
    SlowEngine(CompletableFuture<Completion> end) {
      super(_ -> end);
    }

    @Override
    public List<CompletionStage<List<Completion>>> sample(List<SampleRequest> requests) {
      int[] first = GatewayFixture.TOKENIZER.encode("1");
      requests.forEach(request -> request.listener().sampled(0, first[0], 0, WeightVersion.BASE));
      return super.sample(requests);
    }
  }

  @Test
  void answer_otherKeyOrNone_isRefused() throws Exception {
    GatewaySession session = open(counting(), 48, 4);
    assertThat(post(session, "k2", ASK.formatted("")).statusCode()).isEqualTo(401);
    assertThat(post(session, "", ASK.formatted("")).statusCode()).isEqualTo(401);
    assertThat(session.turns()).isZero();
  }

  @Test
  void answer_endedSession_isRefusedAndNotTrained() throws Exception {
    GatewaySession session = open(counting(), 48, 4);
    assertThat(post(session, KEY, ASK.formatted("")).statusCode()).isEqualTo(200);
    Episode episode = session.end(StopReason.COMPLETED).orElseThrow();
    assertThat(post(session, KEY, ASK.formatted("")).statusCode()).isEqualTo(409);
    server.forget(session);
    HttpResponse<String> late = post(session, KEY, ASK.formatted(""));
    assertThat(late.statusCode()).isEqualTo(409);
    assertThat(late.body()).contains("no episode g3-9-0 is open; it has ended, or never began");
    assertThat(late.headers().firstValue("x-should-retry")).hasValue("false");
    assertThat(episode.turns()).hasSize(1);
    assertThat(session.turns()).isEqualTo(1);
  }

  @Test
  void answer_retryThatSaysSo_isTheSameTurn() throws Exception {
    GatewaySession session = open(counting(), 48, 4);
    String count = "x-stainless-retry-count";
    assertThat(post(session, KEY, ASK.formatted(""), count, "0").body())
        .contains("\"content\":\"0\"");
    assertThat(post(session, KEY, ASK.formatted(""), count, "1").body())
        .contains("\"content\":\"0\"");
    assertThat(session.turns()).isEqualTo(1);
  }

  @Test
  void answer_sameRequestWithoutProof_isDrawnAgain() throws Exception {
    GatewaySession session = open(counting(), 48, 4);
    assertThat(post(session, KEY, ASK.formatted("")).body()).contains("\"content\":\"0\"");
    assertThat(post(session, KEY, ASK.formatted("")).body()).contains("\"content\":\"1\"");
    assertThat(post(session, KEY, ASK.formatted(""), "Idempotency-Key", "a").body())
        .contains("\"content\":\"2\"");
    assertThat(post(session, KEY, ASK.formatted(""), "Idempotency-Key", "a").body())
        .contains("\"content\":\"2\"");
    assertThat(session.turns()).isEqualTo(3);
  }

  @Test
  void answer_turnsBeyondTheLimit_endTheEpisodeByIt() throws Exception {
    GatewaySession session = open(counting(), 48, 1);
    assertThat(post(session, KEY, ASK.formatted("")).statusCode()).isEqualTo(200);
    HttpResponse<String> more = post(session, KEY, ASK.formatted(""));
    assertThat(more.statusCode()).isEqualTo(400);
    assertThat(more.body()).contains("\"code\":\"episode_over\"");
    assertThat(session.end(StopReason.COMPLETED).map(Episode::stop)).contains(StopReason.MAX_TURNS);
  }

  @Test
  void answer_conversationBeyondTheContext_isRefusedWithTheCodeOfOpenAi() throws Exception {
    GatewaySession session = open(counting(), 4, 9);
    HttpResponse<String> response = post(session, KEY, ASK.formatted(""));
    assertThat(response.statusCode()).isEqualTo(400);
    assertThat(response.body()).contains("\"code\":\"context_length_exceeded\"");
    assertThat(session.end(StopReason.COMPLETED)).isEmpty();
  }

  @Test
  void answer_engineThatFails_endsTheSessionAsAFailure() throws Exception {
    IllegalStateException broken = new IllegalStateException("out of memory");
    GatewaySession session =
        open(new ScriptedEngine(_ -> CompletableFuture.failedStage(broken)), 48, 4);
    HttpResponse<String> failed = post(session, KEY, ASK.formatted(""));
    assertThat(failed.statusCode()).isEqualTo(500);
    assertThat(failed.headers().firstValue("x-should-retry")).hasValue("false");
    assertThat(session.failure().toCompletableFuture().join()).isSameAs(broken);
  }

  @Test
  void answer_unreadableText_namesTheCharacter() throws Exception {
    GatewaySession session = open(counting(), 48, 4);
    HttpResponse<String> response = post(session, KEY, ASK.formatted("").replace("2*3=", "%"));
    assertThat(response.statusCode()).isEqualTo(400);
    assertThat(response.body()).contains("the policy cannot be shown this: character '%'");
  }

  /** Clients ask for a model by its name, join paths carelessly, and try a URL by HEAD. */
  @Test
  void answer_modelsByWhateverPath_areThePolicy() throws Exception {
    GatewaySession session = open(counting(), 48, 4);
    for (String path : List.of("/v1/models", "/models", "//v1//models", "/v1/v1/models")) {
      assertThat(read("GET", session, path).body())
          .startsWith("{\"object\":\"list\",\"data\":[{\"id\":\"policy\",\"object\":\"model\"")
          .endsWith("\"has_more\":false,\"first_id\":\"policy\",\"last_id\":\"policy\"}");
    }
    assertThat(read("GET", session, "/v1/models/openai/gpt-4.1").body())
        .startsWith("{\"id\":\"openai/gpt-4.1\",\"object\":\"model\"");
    HttpResponse<String> head = read("HEAD", session, "/v1/models");
    assertThat(head.statusCode()).isEqualTo(200);
    assertThat(head.body()).isEmpty();
    assertThat(read("HEAD", session, "").statusCode()).isEqualTo(404);
    assertThat(read("GET", session, "/v1/modelsx").statusCode()).isEqualTo(404);
    assertThat(read("GET", session, "/v1/chat/completions").statusCode()).isEqualTo(404);
  }

  private HttpResponse<String> read(String method, GatewaySession session, String path)
      throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(server.url(session) + path))
            .header("Authorization", "bearer " + KEY)
            .method(method, HttpRequest.BodyPublishers.noBody())
            .build();
    return client.send(request, HttpResponse.BodyHandlers.ofString());
  }

  @Test
  void answer_pageOfAnotherSite_isRefused() throws Exception {
    GatewaySession session = open(counting(), 48, 4);
    assertThat(post(session, KEY, ASK.formatted(""), "Origin", "http://evil").statusCode())
        .isEqualTo(403);
  }

  @Test
  void answer_dialectsOfOneConversation_continueEachOther() throws Exception {
    GatewaySession session = open(ScriptedEngine.of(_ -> "6"), 48, 4);
    URI url = URI.create(server.url(session) + "/v1/messages?beta=true");
    HttpResponse<String> first =
        client.send(
            HttpRequest.newBuilder(url)
                .header("Content-Type", "application/json")
                .header("x-api-key", KEY)
                .POST(
                    HttpRequest.BodyPublishers.ofString(
                        ASK.formatted(",\"max_tokens\":9,\"stream\":true")))
                .build(),
            HttpResponse.BodyHandlers.ofString());
    assertThat(first.body()).startsWith("event: message_start\n").contains("event: message_stop");
    HttpRequest second =
        HttpRequest.newBuilder(URI.create(server.url(session) + "/v1/responses"))
            .header("Content-Type", "application/json")
            .header("Authorization", "Bearer " + KEY)
            .POST(
                HttpRequest.BodyPublishers.ofString(
                    """
                    {"input":[{"role":"user","content":"2*3="},
                      {"role":"assistant","content":[{"type":"output_text","text":"6"}]},
                      {"role":"user","content":"+1="}]}\
                    """))
            .build();
    assertThat(client.send(second, HttpResponse.BodyHandlers.ofString()).body())
        .contains("\"object\":\"response\"");
    Episode episode = session.end(StopReason.COMPLETED).orElseThrow();
    assertThat(episode.sequences()).hasSize(1);
    assertThat(episode.sequences().getFirst().sampled())
        .containsExactly(true, false, false, false, true);
  }

  @Test
  void answer_countOfTokens_isThatOfTheRenderingAndNoTurn() throws Exception {
    GatewaySession session = open(counting(), 48, 4);
    HttpRequest count =
        HttpRequest.newBuilder(URI.create(server.url(session) + "/v1/messages/count_tokens"))
            .header("Content-Type", "application/json")
            .header("x-api-key", KEY)
            .POST(HttpRequest.BodyPublishers.ofString(ASK.formatted("")))
            .build();
    assertThat(client.send(count, HttpResponse.BodyHandlers.ofString()).body())
        .isEqualTo("{\"input_tokens\":4}");
    assertThat(session.turns()).isZero();
  }

  /** A turn that ends after the agent has gone, and after its session has. */
  @Test
  void answer_turnThatEndsBehindItsSession_isNotRecorded() throws Exception {
    CompletableFuture<Completion> slow = new CompletableFuture<>();
    CompletableFuture<Void> asked = new CompletableFuture<>();
    GatewaySession session =
        open(
            new ScriptedEngine(
                _ -> {
                  asked.complete(null);
                  return slow;
                }),
            48,
            4);
    URI url = URI.create(server.url(session));
    String body = ASK.formatted("");
    try (Socket agent = new Socket(url.getHost(), url.getPort())) {
      agent
          .getOutputStream()
          .write(
              ("POST %s/v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\n"
                      + "Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s")
                  .formatted(url.getPath(), KEY, body.length(), body)
                  .getBytes(StandardCharsets.UTF_8));
      asked.join();
    }
    assertThat(session.end(StopReason.TIMEOUT)).isEmpty();
    slow.complete(GatewayFixture.completion("6"));
    assertThat(session.turns()).isZero();
  }
}
