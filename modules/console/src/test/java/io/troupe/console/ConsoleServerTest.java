package io.troupe.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.troupe.console.chat.Chat;
import io.troupe.console.source.RolloutTexts;
import io.troupe.console.source.StagedRun;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.run.Event;
import io.troupe.core.run.Input;
import io.troupe.core.run.LeaseFailure;
import io.troupe.core.run.Phase;
import io.troupe.testkit.Await;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The API over real HTTP. */
final class ConsoleServerTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final String UNMARKED = "{\"low\":[],\"high\":[],\"cut\":[],\"masked\":[]}";

  @TempDir private Path folder;
  private final HttpClient http = HttpClient.newHttpClient();
  private StagedRun run;
  private ConsoleServer server;

  @BeforeEach
  void start() throws IOException {
    run = new StagedRun(folder);
    server = ConsoleServer.start(ConsoleSettings.loopback(0), run);
  }

  @AfterEach
  void stop() {
    server.close();
    http.close();
  }

  private HttpRequest.Builder to(String path) {
    return HttpRequest.newBuilder(server.address().resolve(path)).timeout(PATIENCE);
  }

  private HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
    return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  private JsonNode get(String path) throws Exception {
    HttpResponse<String> response = send(to(path).GET());
    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    return JSON.readTree(response.body());
  }

  private HttpRequest.Builder order(String body) {
    return change("/api/v1/orders", body);
  }

  private HttpRequest.Builder question(String body) {
    return change("/api/v1/chat", body);
  }

  private HttpRequest.Builder change(String path, String body) {
    return to(path)
        .header("Content-Type", "application/json")
        .header("X-Troupe-Console", "1")
        .POST(HttpRequest.BodyPublishers.ofString(body));
  }

  @Test
  void run_groupsUnderLease_isDrawn() throws Exception {
    run.answer();
    JsonNode view = get("/api/v1/run");
    assertThat(view.path("phase").asText()).isEqualTo("running");
    assertThat(view.path("accounting").path("leased").asInt()).isEqualTo(3);
    assertThat(view.path("accounting").path("buffered").asInt()).isEqualTo(1);
    assertThat(view.path("stages")).hasSize(6);
    assertThat(get("/api/v1/groups?only=buffered")).hasSize(1);
    assertThat(get("/api/v1/groups/1").path("group").path("stage").asText()).isEqualTo("buffered");
    assertThat(get("/api/v1/waits").path("root").asText()).startsWith("The trainer has 1 of 2");
  }

  @Test
  void everyPathOfTheDescription_answers() throws Exception {
    JsonNode described = get("/api/v1/openapi.json").path("paths");
    List<String> paths = new ArrayList<>();
    for (Map.Entry<String, JsonNode> path : described.properties()) {
      if (path.getValue().has("get") && !path.getKey().endsWith("/stream")) {
        String asked = path.getKey().replace("{group}", "1").replace("/flame", "/flame?seconds=1");
        HttpResponse<String> response = send(to(asked).header("X-Troupe-Console", "1").GET());
        assertThat(response.statusCode()).as(path.getKey()).isEqualTo(200);
      }
      paths.add(path.getKey().replace("/api/v1", ""));
    }
    assertThat(paths).containsAll(new Api(run, false, () -> 0).paths()).contains("/orders");
    JsonNode verbs =
        get("/api/v1/openapi.json").at("/components/schemas/Order/properties/verb/enum");
    assertThat(JSON.convertValue(verbs, String[].class))
        .containsExactlyElementsOf(OperatorCommandReader.NAMES);
  }

  @Test
  void explanation_ofAStep_listsItsRowsAndCutsTheTextsOfOne() throws Exception {
    JsonNode rows = get("/api/v1/explanation?step=12");
    assertThat(rows).hasSize(1);
    assertThat(rows.path(0).path("group").asInt()).isEqualTo(7);
    assertThat(rows.path(0).has("text")).isFalse();
    JsonNode life = get("/api/v1/explanation?step=12&row=0");
    assertThat(life.path("step").asInt()).isEqualTo(12);
    assertThat(life.path("text").path("text").asText()).hasSize(RolloutTexts.MAX_CHARACTERS);
    assertThat(life.path("text").path("characters").asInt()).isEqualTo(30_000);
    assertThat(send(to("/api/v1/explanation?step=12&row=1").GET()).body())
        .contains("row is from 0 to 0 in step 12, not 1");
    Api hiding = new Api(run, true, () -> 0);
    assertThat(hiding.answer("/explanation", QueryString.of("step=12&row=0")).toString())
        .contains("text=hidden")
        .doesNotContain("xxx");
    assertThat(get("/api/v1/prediction").path("state").asText()).isEqualTo("refused");
  }

  @Test
  void flame_whileAThreadWorks_namesItsMethods() throws Exception {
    AtomicBoolean stop = new AtomicBoolean();
    Thread worker = Thread.ofPlatform().name("worker-7").start(() -> spin(stop));
    try {
      HttpRequest.Builder sample = to("/api/v1/flame?seconds=1");
      assertThat(send(sample.copy().GET()).statusCode())
          .as("without the header, as a foreign page's <img> asks")
          .isEqualTo(403);
      JsonNode flame = JSON.readTree(send(sample.header("X-Troupe-Console", "1").GET()).body());
      assertThat(flame.findValuesAsText("frame"))
          .contains("worker-N", "io.troupe.console.ConsoleServerTest.spin");
      assertThat(flame.path("samples").asLong()).isPositive();
      assertThat(send(to("/api/v1/flame?seconds=61").header("X-Troupe-Console", "1").GET()).body())
          .contains("seconds must be 1 to 60, not 61");
    } finally {
      stop.set(true);
      worker.join();
    }
  }

  private static void spin(AtomicBoolean stop) {
    while (!stop.get()) {
      Thread.onSpinWait();
    }
  }

  @Test
  void order_pauseAndResume_reachTheRunWithWhoAndWhy() throws Exception {
    String pause = "{\"verb\":\"pause\",\"by\":\"ada\",\"why\":\"lunch\"}";
    assertThat(send(order(pause)).statusCode()).isEqualTo(200);
    assertThat(run.state().controls().paused()).isTrue();
    assertThat(send(order(pause)).body()).contains("admission is paused already");
    assertThat(send(order(pause)).statusCode()).isEqualTo(409);
    assertThat(get("/api/v1/events?density=0").findValuesAsText("text"))
        .contains("ada: pause admission (lunch)");
    assertThat(send(order("{\"verb\":\"resume\"}")).statusCode()).isEqualTo(200);
    assertThat(run.state().controls().paused()).isFalse();
  }

  /** The end of a drained run whose console still has to report the drain. */
  @Test
  @Timeout(90)
  void close_orderUnderWay_isAnswered() throws Exception {
    CompletableFuture<Void> held = run.holdAnswers();
    CompletableFuture<HttpResponse<String>> answer =
        http.sendAsync(order("{\"verb\":\"drain\"}").build(), HttpResponse.BodyHandlers.ofString());
    Await.until("the run drains", () -> run.state().phase() instanceof Phase.Draining);
    Thread closing = Thread.ofPlatform().start(server::close);
    Await.until("the server waits", () -> closing.getState() == Thread.State.TIMED_WAITING);
    held.complete(null);
    assertThat(answer.get(60, TimeUnit.SECONDS).statusCode()).isEqualTo(200);
    closing.join();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "[]",
        "{",
        "{}",
        "{\"verb\":\"max_staleness\",\"value\":9}",
        "{\"verb\":\"requeue\",\"group\":0}",
        "{\"verb\":\"limit\",\"groups\":0}",
        "{\"verb\":\"log\",\"logger\":\"x\",\"level\":\"LOUD\"}",
        "{\"verb\":\"restart\",\"worker\":\"\"}"
      })
  void order_malformed_is400AndChangesNothing(String body) throws Exception {
    var before = run.state();
    assertThat(send(order(body)).statusCode()).isEqualTo(400);
    assertThat(run.state()).isEqualTo(before);
  }

  @Test
  void order_withoutTheHeaderOrFromAnotherSiteOrByGet_isRefused() throws Exception {
    String drain = "{\"verb\":\"drain\"}";
    assertThat(
            send(to("/api/v1/orders")
                    .header("Content-Type", "application/json")
                    .POST(HttpRequest.BodyPublishers.ofString(drain)))
                .statusCode())
        .isEqualTo(403);
    assertThat(send(order(drain).header("Origin", "http://evil.example")).statusCode())
        .isEqualTo(403);
    assertThat(send(order(drain).setHeader("Content-Type", "text/plain")).statusCode())
        .isEqualTo(415);
    assertThat(send(to("/api/v1/orders?verb=drain").GET()).statusCode()).isEqualTo(405);
    assertThat(send(to("/api/v1/run").DELETE()).statusCode()).isEqualTo(405);
    assertThat(run.state().phase()).isEqualTo(new Phase.Running());
  }

  @Test
  void order_tooLarge_is413() throws Exception {
    String body = "{\"verb\":\"pause\",\"why\":\"%s\"}".formatted("x".repeat(1 << 20));
    assertThat(send(order(body)).statusCode()).isEqualTo(413);
  }

  private static final String SUM = "{\"prompt\":\"1+1=\"}";

  @Test
  void question_answered_comesInLinesAsItIsDrawn() throws Exception {
    String hostile = "<script>\u202E";
    run.chat().pieces.add(new Chat.Said(hostile, 7));
    HttpResponse<InputStream> response =
        http.send(question(SUM).build(), HttpResponse.BodyHandlers.ofInputStream());
    assertThat(response.statusCode()).isEqualTo(200);
    try (BufferedReader lines =
        new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8))) {
      JsonNode said = JSON.readTree(lines.readLine());
      assertThat(said.path("text").asText()).isEqualTo(hostile);
      assertThat(said.path("version").asLong()).isEqualTo(7);
      run.chat().pieces.add(new Chat.Ended("stop", 7, 4, 2));
      assertThat(lines.lines().filter(line -> !line.isEmpty()))
          .containsExactly("{\"finish\":\"stop\",\"version\":7,\"prompt_tokens\":4,\"tokens\":2}");
    }
    run.chat().closed.await();
  }

  @Test
  void question_readerGoesAway_endsTheDraw() throws Exception {
    run.chat().pieces.add(new Chat.Said("2", 7));
    try (InputStream answer =
        http.send(question(SUM).build(), HttpResponse.BodyHandlers.ofInputStream()).body()) {
      assertThat(answer.read()).isEqualTo('{');
    }
    assertThat(run.chat().closed.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void question_refusedByThePolicy_hasItsStatusAndSentence() throws Exception {
    Map<Chat.Why, Integer> statuses =
        Map.of(
            Chat.Why.UNFIT, 400, Chat.Why.NOT_HERE, 409, Chat.Why.BUSY, 429, Chat.Why.NOT_NOW, 503);
    for (Map.Entry<Chat.Why, Integer> one : statuses.entrySet()) {
      run.chat().begin = new Chat.Refused(one.getKey(), "because");
      HttpResponse<String> response = send(question(SUM));
      assertThat(response.statusCode()).isEqualTo(one.getValue());
      assertThat(response.body()).isEqualTo("{\"error\":\"because\"}");
    }
  }

  @Test
  void question_malformedOrForgedOrByGet_drawsNothing() throws Exception {
    assertThat(send(question("{\"prompt\":\"\"}")).statusCode()).isEqualTo(400);
    assertThat(send(question("[]")).body()).contains("a question is a JSON object");
    assertThat(send(question("x".repeat(1 << 20))).statusCode()).isEqualTo(413);
    assertThat(send(question(SUM).header("Origin", "http://evil.example")).statusCode())
        .isEqualTo(403);
    assertThat(send(question(SUM).setHeader("X-Troupe-Console", "0")).statusCode()).isEqualTo(403);
    assertThat(send(question(SUM).setHeader("Content-Type", "text/plain")).statusCode())
        .isEqualTo(415);
    assertThat(get("/api/v1/chat?prompt=1").path("context_length").asInt()).isEqualTo(16);
    assertThat(send(to("/api/v1/chat").DELETE()).statusCode()).isEqualTo(405);
    assertThat(run.chat().asked).hasValue(0);
  }

  @Test
  void question_textsHiddenOrByAReader_drawsNothing() throws Exception {
    server.close();
    AccessTokens tokens = AccessTokens.random();
    server =
        ConsoleServer.start(
            new ConsoleSettings("127.0.0.1", 0, true, true, tokens, Optional.empty()), run);
    assertThat(send(question(SUM)).statusCode()).isEqualTo(401);
    assertThat(send(to("/api/v1/chat").GET()).statusCode()).isEqualTo(401);
    assertThat(send(as(tokens.reader(), question(SUM))).body()).contains("may look, not act");
    assertThat(send(as(tokens.operator(), question(SUM))).statusCode()).isEqualTo(403);
    assertThat(send(as(tokens.reader(), to("/api/v1/chat").GET())).body())
        .startsWith("{\"closed\":\"console.hide_text is true")
        .doesNotContain("1+1=");
    assertThat(run.chat().asked).hasValue(0);
  }

  @Test
  void request_foreignHost_isRefused() throws Exception {
    try (Socket socket = new Socket(server.address().getHost(), server.address().getPort());
        PrintWriter out = new PrintWriter(socket.getOutputStream(), true, StandardCharsets.UTF_8);
        BufferedReader in =
            new BufferedReader(
                new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8))) {
      out.print("GET /api/v1/run HTTP/1.1\r\nHost: rebound.example\r\nConnection: close\r\n\r\n");
      out.flush();
      assertThat(in.readLine()).contains(" 421 ");
    }
  }

  @Test
  void everyAnswer_carriesTheHeadersThatKeepABrowserSafe() throws Exception {
    for (String path : List.of("/", "/app.js", "/api/v1/run", "/api/v1/none", "/metrics")) {
      HttpResponse<String> response = send(to(path).GET());
      assertThat(response.headers().firstValue("Content-Security-Policy"))
          .hasValueSatisfying(
              policy ->
                  assertThat(policy)
                      .contains("default-src 'none'", "frame-ancestors 'none'")
                      .doesNotContain("unsafe"));
      assertThat(response.headers().firstValue("X-Content-Type-Options")).hasValue("nosniff");
    }
    assertThat(send(to("/../pom.xml").GET()).statusCode()).isEqualTo(404);
    assertThat(send(to("/%2e%2e/Api.class").GET()).statusCode()).isEqualTo(404);
  }

  @Test
  void tokens_required_openAccordingToTheirRole() throws Exception {
    server.close();
    AccessTokens tokens = AccessTokens.random();
    server =
        ConsoleServer.start(
            new ConsoleSettings("127.0.0.1", 0, true, true, tokens, Optional.empty()), run);
    assertThat(send(to("/api/v1/run").GET()).statusCode()).isEqualTo(401);
    assertThat(send(to("/metrics").GET()).statusCode()).isEqualTo(401);
    assertThat(send(order("{\"verb\":\"pause\"}")).statusCode()).isEqualTo(401);
    assertThat(send(as("wrong", to("/api/v1/run").GET())).statusCode()).isEqualTo(401);
    assertThat(send(as(tokens.reader(), to("/api/v1/run").GET())).statusCode()).isEqualTo(200);
    assertThat(send(as(tokens.reader(), order("{\"verb\":\"pause\"}"))).statusCode())
        .isEqualTo(403);
    assertThat(send(as(tokens.reader(), to("/api/v1/threads").GET())).statusCode()).isEqualTo(403);
    assertThat(send(as(tokens.reader(), to("/api/v1/flame").GET())).statusCode()).isEqualTo(403);
    assertThat(send(as(tokens.operator(), order("{\"verb\":\"pause\"}"))).statusCode())
        .isEqualTo(200);
    assertThat(send(to("/alive").GET()).statusCode()).isEqualTo(200);
    assertThat(server.link()).endsWith("/#token=" + tokens.operator());
  }

  private static HttpRequest.Builder as(String token, HttpRequest.Builder request) {
    return request.header("Authorization", "Bearer " + token);
  }

  @Test
  void settings_beyondLoopbackWithoutTls_areRefused() {
    assertThatThrownBy(
            () ->
                new ConsoleSettings(
                    "0.0.0.0", 0, false, false, AccessTokens.random(), Optional.empty()))
        .hasMessageContaining("console.keystore is not set");
  }

  @Test
  void start_portTaken_takesTheNext() throws Exception {
    int taken = server.address().getPort();
    try (ConsoleServer second = ConsoleServer.start(ConsoleSettings.loopback(taken), run)) {
      assertThat(second.address().getPort()).isGreaterThan(taken);
    }
  }

  @Test
  void group_hostileTexts_comeBackAsTheyAreAndCut() throws Exception {
    String hostile = "<img src=x onerror=alert(1)></script>\u202Eevil\u0000\u001b[31m";
    Map<String, Object> rollout = new LinkedHashMap<>();
    rollout.put("group", 1);
    rollout.put("fence", 1);
    rollout.put("prompt", hostile);
    rollout.put("answer", "4");
    rollout.put("completions", List.of(hostile, "y".repeat(1 << 20)));
    rollout.put("rewards", List.of(0, 1));
    rollout.put("verdicts", List.of("no", "yes"));
    String line = JSON.writeValueAsString(rollout);
    Files.writeString(folder.resolve("rollouts.jsonl"), line + "\n{\"group\": 1, \"fen");
    JsonNode judged = get("/api/v1/groups/1").path("samplings");
    assertThat(judged).hasSize(1);
    assertThat(judged.path(0).path("completions").path(0).path("text").asText()).isEqualTo(hostile);
    JsonNode longOne = judged.path(0).path("completions").path(1);
    assertThat(longOne.path("characters").asInt()).isEqualTo(1 << 20);
    assertThat(longOne.path("text").asText()).hasSize(RolloutTexts.MAX_CHARACTERS);
  }

  @Test
  void group_trained_hasTheMarksOfTheStepThatTrainedIt() throws Exception {
    Path file = folder.resolve("trained.jsonl");
    run.answer();
    // Of another time line, which a resumed run has left: the group was not trained yet.
    Files.writeString(file, "{\"step\":1,\"groups\":[{\"group\":1,\"fence\":1}]}\n");
    assertThat(get("/api/v1/groups/1").path("token_marks")).isEmpty();
    run.answer();
    run.tell(new Input.StepTrained(1));
    assertThat(get("/api/v1/groups/1").path("token_marks").toString())
        .isEqualTo("[%1$s,%1$s]".formatted(UNMARKED));
    String again =
        """
        {"ts":2.5,"step":1,"groups":[{"group":2,"fence":2},\
        {"group":1,"fence":1,"marks":[{},{"low":[[0,1]],"cut":[[1,2]]}]}]}
        {"ts":3.5,"step":1,"groups":[{"group":1,"fence":9}]}
        """;
    Files.writeString(file, again, StandardOpenOption.APPEND);
    assertThat(get("/api/v1/groups/1").path("token_marks").toString())
        .isEqualTo(
            "[%s,{\"low\":[{\"from\":0,\"tokens\":1}],\"high\":[],".formatted(UNMARKED)
                + "\"cut\":[{\"from\":1,\"tokens\":2}],\"masked\":[]}]");
  }

  @Test
  void group_trainedInAFolderWithoutMarks_hasNone() throws Exception {
    run.answer();
    run.answer();
    run.tell(new Input.StepTrained(1));
    JsonNode page = get("/api/v1/groups/1");
    assertThat(page.path("group").path("stage").asText()).isEqualTo("trained");
    assertThat(page.path("token_marks").isArray()).isTrue();
    assertThat(page.path("token_marks")).isEmpty();
    List<String> described = new ArrayList<>();
    get("/api/v1/openapi.json")
        .at("/components/schemas/GroupPage/properties")
        .fieldNames()
        .forEachRemaining(described::add);
    assertThat(page.properties()).extracting(Map.Entry::getKey).hasSameElementsAs(described);
  }

  @Test
  void stream_readerComesBack_getsWhatItMissed() throws Exception {
    String id = readUntil("", "event: run");
    run.answer();
    run.answer();
    String later = readUntil(id, "\"type\":\"StepStarted\"");
    assertThat(later).isNotEqualTo(id);
  }

  /** Reads the stream from an id until a line has some words; returns the last id seen. */
  private String readUntil(String lastId, String words) throws Exception {
    HttpRequest.Builder request = to("/api/v1/stream").GET();
    if (!lastId.isEmpty()) {
      request.header("Last-Event-ID", lastId);
    }
    HttpResponse<InputStream> response =
        http.send(request.build(), HttpResponse.BodyHandlers.ofInputStream());
    String id = "";
    try (BufferedReader lines =
        new BufferedReader(new InputStreamReader(response.body(), StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        id = line.startsWith("id: ") ? line.substring(4) : id;
        if (line.contains(words)) {
          return id.isEmpty() ? lastId : id;
        }
      }
    }
    throw new AssertionError("the stream ended without " + words);
  }

  @Test
  void metrics_andHealth_areForMachines() throws Exception {
    String text = send(to("/metrics").GET()).body();
    assertThat(text).contains("\ntroupe_certificate_days_left{run=\"staged\"} 29\n");
    assertThat(text)
        .contains(
            "# TYPE troupe_groups_leased gauge\ntroupe_groups_leased{run=\"staged\"} 4.0\n",
            "troupe_books_balanced{run=\"staged\"} 1.0\n",
            "troupe_stage_share{run=\"staged\",stage=\"train\",doing=\"waiting\"} 1.0\n");
    assertThat(send(to("/ready").GET()).statusCode()).isEqualTo(200);
    assertThat(send(to("/alive").GET()).body()).isEqualTo("alive\n");
    assertThat(URI.create(server.link())).isEqualTo(server.address());
  }

  @Test
  void ready_verifiersAway_is503WithWhatAndSinceWhenAndNotWhy() throws Exception {
    Instant before = Instant.now().truncatedTo(ChronoUnit.SECONDS);
    run.tell(new Input.VerifierAway(run.oldest(), "a secret that a policy wrote"));
    HttpResponse<String> ready = send(to("/ready").GET());
    assertThat(ready.statusCode()).isEqualTo(503);
    List<String> lines = ready.body().lines().toList();
    assertThat(lines).hasSize(2).first().isEqualTo("nothing can be sampled and judged");
    String what = "verifiers are away, and nothing new is sampled until one judges, since ";
    assertThat(lines.getLast()).startsWith(what);
    assertThat(Instant.parse(lines.getLast().substring(what.length())))
        .isBetween(before, Instant.now());
    JsonNode view = get("/api/v1/run");
    assertThat(view.path("standstill").asBoolean()).isTrue();
    assertThat(view.path("troubles")).hasSize(1);
    assertThat(view.path("troubles").get(0).path("reason").asText())
        .isEqualTo("a secret that a policy wrote");
    run.answer();
    assertThat(send(to("/ready").GET()).body()).isEqualTo("ready\n");
  }

  @Test
  void ready_oneOfTwoWorkersSuspended_is200WithALineOfIt() throws Exception {
    for (int i = 0; i < 3; i++) {
      run.tell(new Input.GroupFailed(run.oldest(), new LeaseFailure.OfEngine("no route")));
    }
    HttpResponse<String> alone = send(to("/ready").GET());
    assertThat(alone.statusCode()).isEqualTo(503);
    run.tell(new Input.DemandRaised(new WorkerId("other"), 4));
    HttpResponse<String> both = send(to("/ready").GET());
    assertThat(both.statusCode()).isEqualTo(200);
    assertThat(both.body())
        .startsWith("ready\nworker rollout-1 is suspended after 3 failures in a row, since ")
        .isEqualTo(alone.body().replace("nothing can be sampled and judged", "ready"));
  }

  @Test
  void ready_noWorkerForMinutes_is503WithSinceWhenUntilOneAsksForWork() throws Exception {
    Instant since = Instant.now().truncatedTo(ChronoUnit.SECONDS).minusSeconds(180);
    run.fold().event(since.toEpochMilli(), new Event.RunResumed(run.state()));
    HttpResponse<String> ready = send(to("/ready").GET());
    assertThat(ready.statusCode()).isEqualTo(503);
    assertThat(ready.body())
        .isEqualTo(
            """
            nothing can be sampled and judged
            workers are missing: none asks for work, since %s
            """
                .formatted(since));
    run.tell(new Input.DemandRaised(new WorkerId("other"), 4));
    assertThat(send(to("/ready").GET()).body()).isEqualTo("ready\n");
  }

  @Test
  void ready_runThatEnded_is503() throws Exception {
    run.tell(new Input.Broken("no memory"));
    HttpResponse<String> ready = send(to("/ready").GET());
    assertThat(ready.statusCode()).isEqualTo(503);
    assertThat(ready.body()).startsWith("the run is ");
  }
}
