package io.troupe.environments.mcp;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.troupe.environments.Environment;
import io.troupe.environments.EnvironmentFailedException;
import io.troupe.environments.EnvironmentPool;
import io.troupe.environments.ToolCall;
import io.troupe.environments.ToolResult;
import io.troupe.environments.ToolSchema;
import io.troupe.environments.command.ProgramSettings;
import io.troupe.testkit.Await;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** MCP servers behind HTTP, played on the loopback interface. */
class HttpMcpTransportTest {
  private static final Pattern ID = Pattern.compile("\"id\":(\\d+)");
  private static final String TEXT =
      "\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"%s\"}]}";

  /** An answer of the played server. */
  private record Played(int status, String type, String body) {
    static Played json(String body) {
      return new Played(200, "application/json", body);
    }

    static Played events(String body) {
      return new Played(200, "text/event-stream", body);
    }
  }

  /** The answer to a call of a tool. */
  private interface Call {
    Played of(String id, String session) throws InterruptedException;
  }

  private final List<String> asked = new CopyOnWriteArrayList<>();
  private final List<String> sessions = new CopyOnWriteArrayList<>();
  private final CountDownLatch closing = new CountDownLatch(1);
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private HttpServer server;
  private Call call = (id, session) -> Played.json(reply(id, TEXT.formatted(session)));

  @BeforeEach
  void open() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(threads);
    server.createContext("/mcp", this::play);
    server.start();
  }

  @AfterEach
  void close() {
    closing.countDown();
    server.stop(0);
    threads.shutdownNow();
  }

  private static String reply(String id, String result) {
    return "{\"jsonrpc\":\"2.0\",\"id\":%s,%s}".formatted(id, result);
  }

  private void play(HttpExchange exchange) throws IOException {
    String body = new String(exchange.getRequestBody().readAllBytes(), UTF_8);
    String session = exchange.getRequestHeaders().getFirst("Mcp-Session-Id");
    asked.add(
        "%s %s %s %s %s"
            .formatted(
                exchange.getRequestMethod(),
                session,
                exchange.getRequestHeaders().getFirst("MCP-Protocol-Version"),
                exchange.getRequestHeaders().getFirst("Authorization"),
                body));
    Played played;
    try {
      played = answer(exchange.getRequestMethod(), body, String.valueOf(session));
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      throw new IOException(stop);
    }
    if (body.contains("\"initialize\"")) {
      sessions.add("s" + (sessions.size() + 1));
      exchange.getResponseHeaders().add("Mcp-Session-Id", sessions.getLast());
    }
    exchange.getResponseHeaders().add("Content-Type", played.type());
    byte[] bytes = played.body().getBytes(UTF_8);
    exchange.sendResponseHeaders(played.status(), bytes.length == 0 ? -1 : bytes.length);
    try (var out = exchange.getResponseBody()) {
      out.write(bytes);
    }
  }

  private Played answer(String method, String body, String session) throws InterruptedException {
    Matcher id = ID.matcher(body);
    if (!method.equals("POST") || !id.find() || !body.contains("\"method\"")) {
      return new Played(202, "text/plain", "");
    }
    if (body.contains("\"initialize\"")) {
      return Played.json(reply(id.group(1), "\"result\":{\"protocolVersion\":\"2025-06-18\"}"));
    }
    return body.contains("\"tools/list\"")
        ? Played.events(
            "event: message\ndata: "
                + reply(id.group(1), "\"result\":{\"tools\":[{\"name\":\"one\"}]}")
                + "\n\n")
        : call.of(id.group(1), session);
  }

  private ProgramSettings settings(Duration timeout, String... headers) {
    List<String> words = new ArrayList<>();
    words.add("http://127.0.0.1:%d/mcp".formatted(server.getAddress().getPort()));
    words.addAll(List.of(headers));
    return new ProgramSettings(words, Map.of(), 1, timeout, 4_096);
  }

  private ToolResult called(Duration timeout) {
    ProgramSettings settings = settings(timeout, "X-Key: secret");
    try (EnvironmentPool pool = new McpProvider(settings).open();
        Environment world = pool.newEnvironment()) {
      return world.step(new ToolCall("one", "{}", ToolCall.Status.OK));
    }
  }

  private void fails(Call answer, String... why) {
    call = answer;
    assertThatThrownBy(() -> called(Duration.ofSeconds(30)))
        .isInstanceOf(EnvironmentFailedException.class)
        .hasMessageContainingAll(why)
        .hasMessageNotContaining("secret");
  }

  @Test
  void step_sessionOfAServer_isNamedInAllButTheFirstMessageAndEnded() {
    McpProvider provider =
        new McpProvider(settings(Duration.ofSeconds(30), "Authorization: Bearer k"));
    assertThat(provider.tools()).containsExactly(new ToolSchema("one", "", "{}"));
    assertThat(asked.getFirst()).startsWith("POST null null Bearer k {");
    assertThat(asked)
        .anyMatch(
            line -> line.startsWith("POST s1 2025-06-18 Bearer k") && line.contains("initialized"))
        .anyMatch(line -> line.startsWith("DELETE s1 2025-06-18 Bearer k"));
  }

  @Test
  void step_streamOfEvents_isReadToTheReplyAndItsPingIsAnswered() {
    call =
        (id, _) ->
            Played.events(
                ": hello\r\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}\r\n\r\n"
                    + "data: {\"jsonrpc\":\"2.0\",\"id\":77,\"method\":\"ping\"}\n\ndata: no json\n\nid: 4\ndata: "
                    + reply(id, TEXT.formatted("six"))
                    + "\n\n");
    assertThat(called(Duration.ofSeconds(30))).isEqualTo(ToolResult.of("six"));
    Await.until(() -> asked.stream().anyMatch(line -> line.contains("\"id\":77,\"result\"")));
  }

  @Test
  void step_sessionThatIsForgotten_isBegunAgainAndTheCallRepeated() {
    call =
        (id, session) ->
            session.equals("s1")
                ? new Played(404, "text/plain", "unknown session")
                : Played.json(reply(id, TEXT.formatted(session)));
    assertThat(called(Duration.ofSeconds(30))).isEqualTo(ToolResult.of("s2"));
    fails((_, _) -> new Played(404, "text/plain", ""), "has forgotten the session");
  }

  @Test
  void step_serverThatIsSilent_isToldOfTheCancelledCall() {
    call =
        (_, _) -> {
          closing.await();
          return Played.json("");
        };
    assertThatThrownBy(() -> called(Duration.ofSeconds(2)))
        .isInstanceOf(EnvironmentFailedException.class)
        .hasMessageContaining("did not reply within PT2S to tools/call");
    Await.until(() -> asked.stream().anyMatch(line -> line.contains("notifications/cancelled")));
  }

  @Test
  void step_hostileAnswers_areFailuresOfTheServer() {
    fails(
        (_, _) -> new Played(500, "text/plain", "out of\u001b[31m memory"),
        "HTTP 500: out of [31m");
    fails((_, _) -> new Played(302, "text/plain", ""), "HTTP 302");
    fails((id, _) -> Played.json(reply(id, "\"error\":{\"message\":\"disk\"}")), "/mcp refuses");
    fails((_, _) -> Played.json("<html>"), "no reply to the request: <html>");
    fails((_, _) -> Played.json(reply("99", TEXT)), "no reply to the request");
    fails((_, _) -> Played.json(" ".repeat(5_000)), "more than 4096 bytes");
    fails((_, _) -> Played.events("data: x\n\n".repeat(2_000)), "more than 4096 bytes");
    fails((_, _) -> Played.events("data: {\"id\":"), "ends its stream of events without a reply");
  }

  @Test
  void tools_wordThatIsNoHeader_isRefusedByName() {
    assertThatThrownBy(() -> new McpProvider(settings(Duration.ofSeconds(30), "secret")).tools())
        .isInstanceOf(EnvironmentFailedException.class)
        .hasMessageContaining("is no header");
  }
}
