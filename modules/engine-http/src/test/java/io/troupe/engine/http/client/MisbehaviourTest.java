package io.troupe.engine.http.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.engine.SamplingSettings;
import io.troupe.engine.http.fleet.ScriptedServer;
import io.troupe.engine.http.protocol.CallFailure;
import io.troupe.engine.http.protocol.CallFailure.Kind;
import io.troupe.engine.http.protocol.Dialect;
import io.troupe.engine.http.protocol.GenerateRequest;
import io.troupe.engine.http.protocol.RawCompletion;
import io.troupe.engine.http.protocol.ServerFinishReason;
import io.troupe.engine.protocol.JsonFields;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The outcome of one request when the server behaves as servers and proxies do on a bad day. */
@Timeout(value = 90, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class MisbehaviourTest {
  private static final String STREAM =
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
  private static final String TOKEN =
      "data: {\"choices\":[{\"index\":0,\"token_ids\":[5],\"logprobs\":"
          + "{\"token_logprobs\":[-1.0]},\"finish_reason\":null}]}\n\n";
  private static final String LAST = TOKEN.replace("null}", "\"length\"}");
  private static final String DONE = "data: [DONE]\n\n";
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final Duration SHORT = Duration.ofMillis(400);

  record Case(String name, String bytes, boolean hangs, Kind kind, int tokens) {
    /** Short for the fault that is awaited alone, so that a slow machine makes no other of it. */
    InferenceEndpoint.Patience patience() {
      return new InferenceEndpoint.Patience(
          LONG,
          kind == Kind.NO_ANSWER ? SHORT : LONG,
          kind == Kind.STALLED ? SHORT : LONG,
          LONG.multipliedBy(2));
    }

    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<Case> cases() {
    return Stream.of(
        new Case("closed without an answer", "", false, Kind.NO_CONNECTION, 0),
        new Case("no headers ever", "", true, Kind.NO_ANSWER, 0),
        new Case("headers and nothing more", STREAM, true, Kind.NO_ANSWER, 0),
        new Case("one token and then silence", STREAM + TOKEN, true, Kind.STALLED, 1),
        new Case("pings without tokens", STREAM + ": ping\n\n".repeat(9), true, Kind.NO_ANSWER, 0),
        new Case("cut between events", STREAM + TOKEN + TOKEN, false, Kind.TRUNCATED, 2),
        new Case("cut within an event", STREAM + TOKEN + "data: {\"cho", false, Kind.TRUNCATED, 1),
        new Case(
            "error after 200",
            STREAM + TOKEN + "data: {\"error\":{\"message\":\"engine dead\"}}\n\n" + DONE,
            false,
            Kind.IN_STREAM,
            1),
        new Case("words in place of JSON", STREAM + "data: hello\n\n", false, Kind.MALFORMED, 0),
        new Case(
            "a completion nobody asked for",
            STREAM + TOKEN.replace("\"index\":0", "\"index\":7"),
            false,
            Kind.MALFORMED,
            0),
        new Case("busy", status("429 Busy", "Retry-After: 7\r\n", "{}"), false, Kind.BUSY, 0),
        new Case("loading", status("503 Loading", "", "{}"), false, Kind.BUSY, 0),
        new Case(
            "a proxy's page", status("502 Bad", "", "<html>Bad</html>"), false, Kind.SERVER, 0),
        new Case("no key", status("401 No", "", "{\"error\":\"x\"}"), false, Kind.UNAUTHORISED, 0),
        new Case("no route", status("404 No", "", "{}"), false, Kind.NO_ROUTE, 0),
        new Case(
            "a redirect", status("307 Go", "Location: /x\r\n", ""), false, Kind.UNEXPECTED, 0));
  }

  private static String status(String line, String headers, String body) {
    return "HTTP/1.1 %s\r\n%sContent-Length: %d\r\nConnection: close\r\n\r\n%s"
        .formatted(line, headers, body.length(), body);
  }

  @ParameterizedTest
  @MethodSource("cases")
  void draw_misbehaviour_isItsOwnFaultWithTheTokensSoFar(Case bad) throws Exception {
    try (ScriptedServer server =
            new ScriptedServer(
                (socket, out) -> {
                  out.write(bad.bytes().getBytes(StandardCharsets.UTF_8));
                  out.flush();
                  if (bad.hangs()) {
                    var _ = socket.getInputStream().read(); // until the client hangs up
                  }
                });
        ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();
        InferenceClient wire =
            new InferenceClient(
                InferenceEndpoint.of(server.base(), 1).withPatience(bad.patience()))) {
      assertThat(sample(wire, clock))
          .isInstanceOfSatisfying(
              InferenceCallException.class,
              fault -> {
                assertThat(fault.fault().kind()).as(fault.getMessage()).isEqualTo(bad.kind());
                assertThat(fault.tokens()).isEqualTo(bad.tokens());
              });
    }
  }

  private static Object sample(InferenceClient wire, ScheduledExecutorService clock)
      throws Exception {
    GenerateRequest request =
        new GenerateRequest(
            "r-1", "m", new int[] {1}, 1, new SamplingSettings(1, 4), 4, 1, "", Duration.ZERO, "");
    try {
      return wire.sample(Dialect.VLLM, request, () -> false, clock)
          .result()
          .toCompletableFuture()
          .get(60, TimeUnit.SECONDS);
    } catch (ExecutionException failed) {
      return Objects.requireNonNull(failed.getCause());
    }
  }

  @Test
  void draw_byteByByteWithPings_isTheWholeAnswerOverPlainHttp1() throws Exception {
    String answer = STREAM + ": ping\n\n" + TOKEN.replace("\n", "\r\n") + TOKEN + LAST + DONE;
    try (ScriptedServer server =
            new ScriptedServer(
                (_, out) -> {
                  for (byte one : answer.getBytes(StandardCharsets.UTF_8)) {
                    out.write(one);
                    out.flush();
                  }
                });
        ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();
        InferenceClient wire = new InferenceClient(InferenceEndpoint.of(server.base(), 1))) {
      RawCompletion sampled = (RawCompletion) ((List<?>) sample(wire, clock)).getFirst();
      assertThat(sampled.tokens()).containsExactly(5, 5, 5);
      assertThat(sampled.finish()).isEqualTo(ServerFinishReason.LENGTH);
      assertThat(server.requests().getFirst())
          .startsWith("POST /v1/completions HTTP/1.1")
          .contains("Content-Type: application/json", "\"max_tokens\":4")
          .doesNotContain("Upgrade", "HTTP2-Settings", "Authorization");
    }
  }

  @Test
  void draw_slowDrip_isTooLateAtItsDeadlineWithTheTokensSoFar() throws Exception {
    CountDownLatch over = new CountDownLatch(1);
    try (ScriptedServer server =
            new ScriptedServer(
                (_, out) -> {
                  out.write(STREAM.getBytes(StandardCharsets.UTF_8));
                  do {
                    out.write(TOKEN.getBytes(StandardCharsets.UTF_8));
                    out.flush();
                  } while (!over.await(100, TimeUnit.MILLISECONDS));
                });
        ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();
        InferenceClient wire =
            new InferenceClient(
                InferenceEndpoint.of(server.base(), 1)
                    .withPatience(
                        new InferenceEndpoint.Patience(
                            LONG, LONG, Duration.ofSeconds(1), Duration.ofSeconds(1))))) {
      assertThat(sample(wire, clock))
          .isInstanceOfSatisfying(
              InferenceCallException.class,
              fault -> assertThat(fault.fault().kind()).isEqualTo(Kind.TOO_LATE));
      over.countDown();
    }
  }

  @Test
  void draw_endMarkWithoutFinishReason_isNotFinished() throws Exception {
    try (ScriptedServer server =
            new ScriptedServer(
                (_, out) -> out.write((STREAM + TOKEN + DONE).getBytes(StandardCharsets.UTF_8)));
        ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();
        InferenceClient wire = new InferenceClient(InferenceEndpoint.of(server.base(), 1))) {
      RawCompletion sampled = (RawCompletion) ((List<?>) sample(wire, clock)).getFirst();
      assertThat(sampled.finish()).isEqualTo(ServerFinishReason.OPEN);
    }
  }

  @Test
  void ofStatus_retryAfter_isKept() {
    assertThat(CallFailure.ofStatus(429, "", "7").retryAfter()).isEqualTo(Duration.ofSeconds(7));
  }

  /** A first token that comes after many times the server's patience is no hang. */
  @Test
  void sample_waitingInTheQueueOfAServerThatSamplesForOthers_isNotGivenUp() throws Exception {
    CountDownLatch looks = new CountDownLatch(25); // ten in each patience
    try (ScriptedServer server =
            new ScriptedServer(
                (_, out) -> {
                  out.write(STREAM.getBytes(UTF_8));
                  out.flush();
                  looks.await();
                  out.write((LAST + DONE).getBytes(UTF_8));
                  out.flush();
                });
        ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();
        InferenceClient wire =
            new InferenceClient(
                InferenceEndpoint.of(server.base(), 1)
                    .withPatience(new InferenceEndpoint.Patience(LONG, SHORT, LONG, LONG)))) {
      GenerateRequest request =
          new GenerateRequest(
              "r-1",
              "m",
              new int[] {1},
              1,
              new SamplingSettings(1, 4),
              4,
              1,
              "",
              Duration.ZERO,
              "");
      BooleanSupplier queueing =
          () -> {
            looks.countDown();
            return true;
          };
      List<RawCompletion> sampled =
          wire.sample(Dialect.VLLM, request, System.nanoTime(), () -> false, queueing, clock)
              .result()
              .toCompletableFuture()
              .get(60, TimeUnit.SECONDS);
      assertThat(sampled.getFirst().tokens()).containsExactly(5);
    }
  }

  /** The client's own timeout ends with the headers. */
  @Test
  void get_bodyThatStalls_isNoAnswerInTime() throws Exception {
    try (ScriptedServer server =
            new ScriptedServer(
                (socket, out) -> {
                  out.write("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{".getBytes(UTF_8));
                  out.flush();
                  socket.getInputStream().read(); // until the client goes
                });
        InferenceClient wire = new InferenceClient(InferenceEndpoint.of(server.base(), 1))) {
      assertThatThrownBy(() -> wire.get("/health", Duration.ofMillis(300)))
          .isInstanceOfSatisfying(
              InferenceCallException.class,
              failed -> assertThat(failed.fault().kind()).isEqualTo(CallFailure.Kind.NO_ANSWER));
    }
  }

  @Test
  void post_answerLongerThanItMayBe_fails() throws Exception {
    try (ScriptedServer server =
            new ScriptedServer(
                (_, out) -> {
                  out.write(
                      ("HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n" + " ".repeat(2000))
                          .getBytes(UTF_8));
                  out.flush();
                });
        InferenceClient wire = new InferenceClient(InferenceEndpoint.of(server.base(), 1))) {
      assertThat(wire.post("/x", JsonFields.object(), Duration.ofSeconds(20), 2000).body())
          .hasSize(2000);
      assertThatThrownBy(() -> wire.post("/x", JsonFields.object(), Duration.ofSeconds(20), 1999))
          .isInstanceOf(InferenceCallException.class);
    }
  }
}
