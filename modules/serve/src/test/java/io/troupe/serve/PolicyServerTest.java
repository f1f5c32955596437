package io.troupe.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.core.completion.Completion;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingEngine;
import io.troupe.engine.SamplingSettings;
import io.troupe.engine.protocol.JsonFields;
import io.troupe.engine.protocol.WeightTag;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.testkit.Await;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(value = 90, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PolicyServerTest {
  private static final String ASK =
      """
      {"model":"policy","prompt":[3,4,5],"max_tokens":8,"n":2,"seed":11,"logprobs":0,
       "return_token_ids":true,"stream":%s,"stream_interval_ms":0}\
      """;

  private static int[] ids(JsonNode array) {
    return StreamSupport.stream(array.spliterator(), false).mapToInt(JsonNode::asInt).toArray();
  }

  @Test
  void completions_sameSeed_areTheEnginesOwn() throws Exception {
    try (ToyFixture toy = ToyFixture.loaded(Duration.ZERO);
        SamplingEngine alone = toy.policy.newSampler()) {
      WeightSnapshot weights = ToyFixture.weights(toy.policy, 0);
      alone.load(weights).toCompletableFuture().join();
      List<Completion> expected =
          alone
              .sample(
                  List.of(
                      new SampleRequest(
                          new LeaseId(new GroupId(1), 1),
                          new int[] {3, 4, 5},
                          2,
                          new SamplingSettings(1, 8),
                          11)))
              .getFirst()
              .toCompletableFuture()
              .join();

      HttpResponse<String> answer = toy.post("/v1/completions", ASK.formatted("false"));
      assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
      JsonNode choices = JsonFields.parse(answer.body()).path("choices");
      for (int c = 0; c < 2; c++) {
        JsonNode choice = choices.get(c);
        assertThat(ids(choice.path("token_ids"))).isEqualTo(expected.get(c).tokens());
        assertThat(ids(choice.path("prompt_token_ids"))).containsExactly(3, 4, 5);
        for (int t = 0; t < expected.get(c).length(); t++) {
          assertThat((float) choice.path("logprobs").path("token_logprobs").get(t).asDouble())
              .isEqualTo(expected.get(c).logProbs()[t]);
        }
        assertThat(choice.path("text").asText())
            .isEqualTo(toy.policy.tokenizer().decode(expected.get(c).tokens()));
        assertThat(choice.path("weight_versions").toString())
            .isEqualTo(
                "[{\"version\":\"%s\",\"start\":0,\"end\":%d}]"
                    .formatted(
                        WeightTag.of(weights.version(), weights.digest()),
                        expected.get(c).length()));
      }
    }
  }

  /** The engine draws no further token before the last one was read. */
  @Test
  void completions_streamed_comeTokenByTokenAndAddUpToTheWholeAnswer() throws Exception {
    try (ToyFixture toy = ToyFixture.loaded(Duration.ZERO)) {
      JsonNode whole = JsonFields.parse(toy.post("/v1/completions", ASK.formatted("false")).body());
      Semaphore read = new Semaphore(0);
      toy.engine.afterEachToken(() -> acquired(read));
      List<JsonNode> chunks = new ArrayList<>();
      try (BufferedReader stream =
          new BufferedReader(
              new InputStreamReader(
                  toy.open("/v1/completions", ASK.formatted("true")).body(),
                  StandardCharsets.UTF_8))) {
        String last = "";
        for (String line = stream.readLine(); line != null; line = stream.readLine()) {
          if (line.startsWith("data: {")) {
            chunks.add(parsed(line.substring(6)));
            read.release();
          }
          last = line.isEmpty() ? last : line;
        }
        assertThat(last).isEqualTo("data: [DONE]");
      }
      assertThat(chunks.size())
          .isGreaterThanOrEqualTo(whole.path("usage").path("completion_tokens").asInt());
      for (int c = 0; c < 2; c++) {
        int index = c;
        List<JsonNode> mine =
            chunks.stream()
                .flatMap(chunk -> StreamSupport.stream(chunk.path("choices").spliterator(), false))
                .filter(choice -> choice.path("index").asInt() == index)
                .toList();
        JsonNode expected = whole.path("choices").get(c);
        assertThat(mine.stream().flatMapToInt(n -> Arrays.stream(ids(n.path("token_ids")))))
            .containsExactly(
                Arrays.stream(ids(expected.path("token_ids"))).boxed().toArray(Integer[]::new));
        assertThat(String.join("", mine.stream().map(n -> n.path("text").asText()).toList()))
            .isEqualTo(expected.path("text").asText());
        assertThat(mine.getLast().path("finish_reason")).isEqualTo(expected.path("finish_reason"));
      }
    }
  }

  private static void acquired(Semaphore permits) {
    try {
      if (!permits.tryAcquire(60, TimeUnit.SECONDS)) {
        throw new AssertionError("the token was not read");
      }
    } catch (InterruptedException closing) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void completions_severalPrompts_areNumberedByPromptAndThenByCompletion() throws Exception {
    try (ToyFixture toy = ToyFixture.loaded(Duration.ZERO)) {
      JsonNode choices =
          JsonFields.parse(
                  toy.post(
                          "/v1/completions",
                          "{\"prompt\":[[3],[4,5]],\"n\":2,\"max_tokens\":2,\"seed\":1,"
                              + "\"return_token_ids\":true}")
                      .body())
              .path("choices");
      assertThat(choices).hasSize(4);
      for (int i = 0; i < 4; i++) {
        assertThat(choices.get(i).path("index").asInt()).isEqualTo(i);
        assertThat(ids(choices.get(i).path("prompt_token_ids")))
            .isEqualTo(i < 2 ? new int[] {3} : new int[] {4, 5});
      }
    }
  }

  @Test
  void completions_promptLogProbs_areTheScorersWithTheLikeliestBeside() throws Exception {
    try (ToyFixture toy = ToyFixture.scoring()) {
      String ask = "{\"prompt\":[3,4,5],\"max_tokens\":1,\"prompt_logprobs\":%d}";
      JsonNode places =
          JsonFields.parse(toy.post("/v1/completions", ask.formatted(2)).body())
              .path("choices")
              .get(0)
              .path("prompt_logprobs");
      assertThat(places).hasSize(3);
      assertThat(places.get(0).isNull()).isTrue();
      assertThat(places.get(2).path("5").path("logprob").asDouble()).isEqualTo(-5.0);
      assertThat(places.get(2).path("7").path("rank").asInt()).isEqualTo(1);
      assertThat(toy.post("/v1/completions", ask.formatted(-1)).statusCode()).isEqualTo(400);
      assertThat(
              toy.post("/v1/completions", ask.formatted(0).replace("}", ",\"stream\":true}"))
                  .body())
          .contains("prompt_logprobs and stream do not go together");
    }
  }

  /** The requests of lm-eval's local-completions for two continuations, and its computation. */
  @Test
  void completions_requestOfLmEval_givesTheLogLikelihoodsOfContinuations() throws Exception {
    try (ToyFixture toy = ToyFixture.scoring()) {
      JsonNode answer =
          JsonFields.parse(
              toy.post(
                      "/v1/completions",
                      """
                      {"model":"policy","prompt":[[3,4,7,7],[3,4,7,5]],"temperature":0,
                       "max_tokens":1,"logprobs":1,"seed":1234,"echo":true}\
                      """)
                  .body());
      List<Double> sums = new ArrayList<>();
      List<Boolean> greedy = new ArrayList<>();
      for (JsonNode choice : answer.path("choices")) {
        JsonNode numbers = choice.path("logprobs").path("token_logprobs");
        assertThat(numbers).hasSize(5);
        double sum = 0;
        boolean best = true;
        for (int i = 2; i < numbers.size() - 1; i++) {
          sum += numbers.get(i).doubleValue();
          double greatest = Double.NEGATIVE_INFINITY;
          for (JsonNode other : choice.path("logprobs").path("top_logprobs").get(i)) {
            greatest = Math.max(greatest, other.doubleValue());
          }
          best &= numbers.get(i).doubleValue() == greatest;
        }
        sums.add(sum);
        greedy.add(best);
      }
      assertThat(sums).isEqualTo(List.of(-2.0, -6.0));
      assertThat(greedy).isEqualTo(List.of(true, false));
      assertThat(answer.path("usage").path("completion_tokens").asInt()).isEqualTo(2);
    }
  }

  @Test
  void completions_echo_putsThePromptBeforeTheCompletion() throws Exception {
    try (ToyFixture toy = ToyFixture.scoring()) {
      String ask = "{\"prompt\":\"12+\",\"max_tokens\":%d,\"seed\":5%s}";
      String plain = text(toy, ask.formatted(3, ""));
      assertThat(text(toy, ask.formatted(3, ",\"echo\":true"))).isEqualTo("12+" + plain);
      JsonNode scored =
          JsonFields.parse(
                  toy.post("/v1/completions", ask.formatted(0, ",\"echo\":true,\"logprobs\":0"))
                      .body())
              .path("choices")
              .get(0);
      assertThat(scored.path("text").asText()).isEqualTo("12+");
      assertThat(scored.path("logprobs").path("tokens").toString())
          .isEqualTo("[\"1\",\"2\",\"+\"]");
      assertThat(scored.path("logprobs").path("token_logprobs").get(0).isNull()).isTrue();
      assertThat(scored.path("logprobs").path("token_logprobs")).hasSize(3);
      assertThat(scored.path("logprobs").path("top_logprobs").toString())
          .isEqualTo("[null,null,null]");
      for (String other : List.of(",\"stream\":true", ",\"prompt_logprobs\":0")) {
        HttpResponse<String> refused =
            toy.post("/v1/completions", ask.formatted(1, ",\"echo\":true" + other));
        assertThat(refused.statusCode()).isEqualTo(400);
        assertThat(refused.body()).contains("echo goes with neither");
      }
    }
  }

  private static String text(ToyFixture toy, String body) throws Exception {
    return JsonFields.parse(toy.post("/v1/completions", body).body())
        .path("choices")
        .get(0)
        .path("text")
        .asText();
  }

  private static JsonNode parsed(String text) {
    try {
      return JsonFields.parse(text);
    } catch (Exception malformed) {
      throw new AssertionError(malformed);
    }
  }

  @Test
  void chat_conversation_isAnsweredAsAMessage() throws Exception {
    try (ToyFixture toy = ToyFixture.loaded(Duration.ZERO)) {
      JsonNode answer =
          JsonFields.parse(
              toy.post(
                      "/v1/chat/completions",
                      """
                      {"messages":[{"role":"user","content":"1+2="}],"max_tokens":3,
                       "logprobs":true,"temperature":0}\
                      """)
                  .body());
      assertThat(answer.path("object").asText()).isEqualTo("chat.completion");
      JsonNode choice = answer.path("choices").get(0);
      assertThat(choice.path("message").path("role").asText()).isEqualTo("assistant");
      assertThat(choice.path("logprobs").path("content")).isNotEmpty();
      assertThat(answer.path("usage").path("prompt_tokens").asInt()).isEqualTo(4);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\u0001',
      value = {
        "{\"prompt\":[3]|400|the body is not JSON",
        "[1]|400|the body is not a JSON object",
        "{}|400|prompt is a text, a list of token ids",
        "{\"prompt\":[]}|400|prompt is a text, a list of token ids",
        "{\"prompt\":[[]]}|400|a prompt has at least one token",
        "{\"prompt\":[-1]}|400|token 0 of the prompt is -1; ids lie in",
        "{\"prompt\":[99999]}|400|token 0 of the prompt is 99999",
        "{\"prompt\":[3],\"n\":0}|400|n lies in [1, 4096], and is 0",
        "{\"prompt\":[3],\"max_tokens\":\"x\"}|400|max_tokens is a whole number",
        "{\"prompt\":[3],\"temperature\":-1}|400|temperature is at least 0, not -1",
        "{\"prompt\":[3],\"top_p\":0.5}|400|the toy policy knows no top_p",
        "{\"prompt\":[3],\"ignore_eos\":true}|400|ignore_eos is not served",
        "{\"prompt\":[3],\"stop_token_ids\":[2,-1]}|400|stop_token_ids are ids, and one is -1",
        "{\"prompt\":[3],\"nested\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[|400|the"
            + " body is too much",
        "{\"prompt\":[3],\"logprobs\":5}|400|only the log-probability of the sampled token",
        "{\"prompt\":[3,4],\"prompt_logprobs\":0}|400|this server gives no prompt_logprobs",
        "{\"prompt\":[3,4],\"echo\":true,\"logprobs\":1}|400|this server gives no prompt_logprobs",
        "{\"prompt\":[3],\"model\":\"gpt\"}|404|the model `gpt` does not exist; this server serves"
            + " `policy`",
        "{\"prompt\":\"?\"}|400|?"
      })
  void completions_badRequest_isRefusedWithItsReason(String body, int status, String message)
      throws Exception {
    try (ToyFixture toy = ToyFixture.loaded(Duration.ZERO)) {
      HttpResponse<String> answer = toy.post("/v1/completions", body);
      assertThat(answer.statusCode()).isEqualTo(status);
      assertThat(JsonFields.parse(answer.body()).path("error").path("message").asText())
          .contains(message);
    }
  }

  /** A tree of them would take 180 MB. */
  @Test
  void completions_bodyOfBracketsAlone_isRefused() throws Exception {
    try (ToyFixture toy = ToyFixture.loaded(Duration.ZERO)) {
      String body = "{\"prompt\":[" + "[],".repeat(600_000) + "[]]}";
      HttpResponse<String> answer = toy.post("/v1/completions", body);
      assertThat(answer.statusCode()).isEqualTo(400);
      assertThat(answer.body()).contains("the body is too much", "1000000");
    }
  }

  @Test
  void completions_listsWithoutEnd_areRefused() throws Exception {
    try (ToyFixture toy = ToyFixture.loaded(Duration.ZERO)) {
      assertThat(
              toy.post(
                      "/v1/completions",
                      "{\"prompt\":[3],\"stop_token_ids\":[" + "1,".repeat(1024) + "1]}")
                  .body())
          .contains("stop_token_ids has at most 1024 ids");
      assertThat(
              toy.post(
                      "/v1/completions",
                      "{\"prompt\":[3],\"stop\":[" + "\"a\",".repeat(1024) + "\"a\"]}")
                  .body())
          .contains("stop has at most 1024 texts of 4096 characters");
      assertThat(
              toy.post("/v1/completions", "{\"prompt\":[3],\"stop\":\"" + "a".repeat(4097) + "\"}")
                  .body())
          .contains("stop has at most 1024 texts of 4096 characters");
      assertThat(
              toy.post(
                      "/v1/chat/completions",
                      "{\"messages\":[{\"role\":\"user\",\"content\":\"1\"}],\"chat_template_kwargs\":{\"a\":\""
                          + "a".repeat(4096)
                          + "\"}}")
                  .body())
          .contains("chat_template_kwargs has at most 64 entries, and 4096 characters");
    }
  }

  /** The requests that a page of another site can have a browser of this machine send. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "Host: evil.example|GET /v1/models|421",
        "Host: evil.example:8000|POST /pause?mode=abort|421",
        "Host: 127.0.0.1;Origin: http://evil.example|POST /pause?mode=abort|403",
        "Host: 127.0.0.1;Origin: null|POST /resume|403",
        "Host: 127.0.0.1;Content-Type: text/plain;Content-Length: 2|POST /abort_requests|415",
        "Host: 127.0.0.1;Content-Length: 2|POST /abort_requests|415",
        "Host: 127.0.0.1:8000;Origin: http://127.0.0.1:8000|GET /v1/models|200",
        "Host: localhost|POST /resume|200"
      })
  void anyRoute_askedByAForeignPage_isRefused(String headers, String request, int status)
      throws Exception {
    try (ToyFixture toy = ToyFixture.loaded(Duration.ZERO);
        Socket socket =
            new Socket(InetAddress.getLoopbackAddress(), URI.create(toy.base()).getPort())) {
      String head =
          "%s HTTP/1.1\r\n%s\r\nConnection: close\r\n\r\n%s"
              .formatted(
                  request,
                  headers.replace(";", "\r\n"),
                  headers.contains("Content-Length") ? "{}" : "");
      socket.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
      assertThat(new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
          .startsWith("HTTP/1.1 " + status + " ");
      assertThat(toy.get("/is_paused").body()).isEqualTo("{\"is_paused\":false}");
    }
  }

  @Test
  void completions_longPromptLine_isRefusedOrAnsweredNeverFatal() throws Exception {
    try (ToyFixture toy = ToyFixture.loaded(Duration.ZERO)) {
      HttpResponse<String> megabyte =
          toy.post("/v1/completions", "{\"prompt\":\"" + "1".repeat(1 << 20) + "\"}");
      assertThat(megabyte.statusCode()).isEqualTo(400);
      assertThat(megabyte.body()).contains("1048576 tokens, and the maximum context length is 64");
      assertThat(toy.post("/v1/completions", " ".repeat(9 << 20)).statusCode()).isEqualTo(413);
      assertThat(toy.post("/v1/completions", ASK.formatted("false")).statusCode()).isEqualTo(200);
    }
  }

  @Test
  void completions_moreThanTheServerTakes_areToldToComeBack() throws Exception {
    try (ToyFixture toy =
        ToyFixture.loaded(Duration.ZERO, ServeSettings.loopback(0).withMaxRequests(2))) {
      assertThat(toy.post("/pause?mode=keep", "").statusCode()).isEqualTo(200);
      List<CompletableFuture<HttpResponse<String>>> held =
          List.of(asked(toy, "false"), asked(toy, "false"));
      awaitMetric(toy, "troupe_serve_requests_waiting 2");
      HttpResponse<String> third = toy.post("/v1/completions", "not read, so not refused for this");
      assertThat(third.statusCode()).isEqualTo(429);
      assertThat(third.headers().firstValue("Retry-After")).hasValue("1");
      assertThat(toy.post("/resume", "").statusCode()).isEqualTo(200);
      assertThat(held).allMatch(answer -> answer.join().statusCode() == 200);
    }
  }

  private static CompletableFuture<HttpResponse<String>> asked(ToyFixture toy, String stream) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            return toy.post("/v1/completions", ASK.formatted(stream));
          } catch (Exception broken) {
            throw new CompletionException(broken);
          }
        },
        Thread::startVirtualThread);
  }

  static void awaitMetric(ToyFixture toy, String line) {
    Await.until(line, () -> toy.get("/metrics").body().lines().anyMatch(line::equals));
  }

  @Test
  void pause_abort_endsRequestsWithTheTokensTheyHave() throws Exception {
    try (ToyFixture toy = ToyFixture.loaded(Duration.ofSeconds(10))) {
      CompletableFuture<HttpResponse<String>> open = asked(toy, "true");
      toy.engine.awaitRequest();
      assertThat(toy.post("/pause", "").body()).contains("paused");
      String stream = open.join().body();
      assertThat(stream).contains("\"finish_reason\":\"abort\"").endsWith("data: [DONE]\n\n");
      assertThat(toy.get("/is_paused").body()).isEqualTo("{\"is_paused\":true}");
      assertThat(toy.post("/pause?mode=sideways", "").statusCode()).isEqualTo(400);
    }
  }

  @Test
  void update_newerWeights_areUsedFromTheNextTokenOnAndTold(@TempDir Path folder) throws Exception {
    try (ToyFixture toy = ToyFixture.loaded(Duration.ZERO)) {
      WeightSnapshot next = ToyFixture.weights(toy.policy, 1);
      String tag = WeightTag.of(next.version(), next.digest()).toString();
      Path directory = ToyFixture.write(next, folder);
      String order = "{\"model_path\":\"%s\",\"weight_version\":\"%s\"}";
      HttpResponse<String> wrong =
          toy.post("/update_weights_from_disk", order.formatted(directory, "1-0123456789abcdef"));
      assertThat(wrong.statusCode()).isEqualTo(400);
      assertThat(wrong.body()).contains("holds weights with the digest");
      assertThat(toy.post("/update_weights_from_disk", order.formatted("\\u0000", tag)).body())
          .contains("model_path is no path");
      assertThat(toy.post("/pause?mode=keep", "").statusCode()).isEqualTo(200);
      CompletableFuture<HttpResponse<String>> open = asked(toy, "false");
      awaitMetric(toy, "troupe_serve_requests_waiting 1");
      assertThat(toy.post("/update_weights_from_disk", order.formatted(directory, tag)).body())
          .contains("\"success\":true");
      assertThat(toy.get("/weight_info").body()).contains(tag);
      assertThat(toy.post("/resume", "").statusCode()).isEqualTo(200);
      assertThat(open.join().body()).contains("\"version\":\"" + tag + "\",\"start\":0");
    }
  }

  @Test
  void anyRoute_withoutTheKey_isRefused() throws Exception {
    try (ToyFixture toy =
        ToyFixture.loaded(Duration.ZERO, ServeSettings.loopback(0).withKey(ToyFixture.KEY))) {
      assertThat(toy.get("/metrics").statusCode()).isEqualTo(401);
      assertThat(toy.get("/health").statusCode()).isEqualTo(200);
      assertThat(toy.post("/v1/completions", ASK.formatted("false")).statusCode()).isEqualTo(200);
      assertThat(toy.get("/nowhere").statusCode()).isEqualTo(401);
    }
  }

  @Test
  void anyRoute_withTheKeyForSampling_samplesAndCommandsNothing() throws Exception {
    ServeSettings settings =
        ServeSettings.loopback(0).withKey("everything").withSamplingKey(ToyFixture.KEY);
    try (ToyFixture toy = ToyFixture.loaded(Duration.ZERO, settings)) {
      assertThat(toy.post("/v1/completions", ASK.formatted("false")).statusCode()).isEqualTo(200);
      for (String route :
          List.of(
              "/pause",
              "/resume",
              "/abort_requests",
              "/update_weights_from_disk",
              "/v1/load_lora_adapter",
              "/v1/unload_lora_adapter")) {
        HttpResponse<String> refused = toy.post(route, "{}");
        assertThat(refused.statusCode()).as(route).isEqualTo(403);
        assertThat(refused.body()).contains(route + " takes the key of --api-key-file");
      }
    }
    assertThatThrownBy(() -> ServeSettings.loopback(0).withSamplingKey("k"))
        .hasMessageContaining("--api-key-file");
    assertThatThrownBy(() -> ServeSettings.loopback(0).withKey("k").withSamplingKey("k"))
        .hasMessageContaining("--sampling-key-file");
  }

  @Test
  void health_whileItsFirstWeightsAreRead_is503AndOthersAreNotTaken(@TempDir Path folder)
      throws Exception {
    try (ToyFixture toy =
        ToyFixture.empty(Duration.ZERO, ServeSettings.loopback(0).awaitingWeights())) {
      Path later = ToyFixture.write(ToyFixture.weights(toy.policy, 3), folder);
      String update = JsonFields.object().put("model_path", later.toString()).toString();
      assertThat(toy.get("/health").statusCode()).isEqualTo(503);
      assertThat(toy.post("/update_weights_from_disk", update).statusCode()).isEqualTo(503);
      toy.server.use(ToyFixture.weights(toy.policy, 0));
      assertThat(toy.get("/health").statusCode()).isEqualTo(200);
      assertThat(toy.post("/update_weights_from_disk", update).statusCode()).isEqualTo(200);
    }
  }

  @Test
  void completions_beforeTheFirstWeights_areToldToComeBack() throws Exception {
    try (ToyFixture toy = ToyFixture.empty(Duration.ZERO, ServeSettings.loopback(0))) {
      HttpResponse<String> answer = toy.post("/v1/completions", ASK.formatted("false"));
      assertThat(answer.statusCode()).isEqualTo(503);
      assertThat(answer.body()).contains("no weights were loaded yet");
      assertThat(toy.get("/health").statusCode()).as("none are on their way").isEqualTo(200);
      assertThat(toy.get("/v1/completions").statusCode()).isEqualTo(405);
      assertThat(toy.get("/update_weights_from_disk").statusCode()).isEqualTo(405);
    }
  }
}
