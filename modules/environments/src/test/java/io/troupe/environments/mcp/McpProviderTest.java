package io.troupe.environments.mcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.environments.Environment;
import io.troupe.environments.EnvironmentFailedException;
import io.troupe.environments.EnvironmentPool;
import io.troupe.environments.ToolCall;
import io.troupe.environments.ToolResult;
import io.troupe.environments.ToolSchema;
import io.troupe.environments.command.ProgramSettings;
import io.troupe.testkit.Await;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class McpProviderTest {
  @TempDir private Path folder;

  /** A server that answers initialize and tools/list in two pages, and calls by a command. */
  private ProgramSettings server(String call, Duration timeout) {
    String script =
        """
        echo starting up
        echo $$ > "$LOG.pid"
        while read -r line; do
          echo "$line" >> "$LOG"
          id=$(echo "$line" | sed 's/.*"id":\\([0-9]*\\).*/\\1/')
          reply() { echo '{"jsonrpc":"2.0","id":'$id','"$1"'}'; }
          case "$line" in
            *'"initialize"'*) reply '"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}}}' ;;
            *'"cursor":"2"'*) reply '"result":{"tools":[{"name":"two"}]}' ;;
            *'"tools/list"'*) reply '"result":{"tools":[{"name":"one","description":"First.","inputSchema":{"type":"object"}}],"nextCursor":"2"}' ;;
            *'"tools/call"'*) %s ;;
          esac
        done
        """
            .formatted(call);
    return new ProgramSettings(
        List.of("sh", "-c", script),
        Map.of("LOG", folder.resolve("log").toString()),
        1,
        timeout,
        ProgramSettings.LINE_BYTES);
  }

  private ProgramSettings server(String call) {
    return server(call, Duration.ofSeconds(30));
  }

  private static ToolResult called(ProgramSettings settings, String arguments) {
    try (EnvironmentPool pool = new McpProvider(settings).open();
        Environment world = pool.newEnvironment()) {
      return world.step(new ToolCall("one", arguments, ToolCall.Status.OK));
    }
  }

  private List<String> log() {
    try {
      return Files.readAllLines(folder.resolve("log"));
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  @Test
  void tools_ofTwoPages_areAllListed() {
    assertThat(new McpProvider(server("exit")).tools())
        .containsExactly(
            new ToolSchema("one", "First.", "{\"type\":\"object\"}"),
            new ToolSchema("two", "", "{}"));
    assertThat(log().getFirst())
        .contains("\"protocolVersion\":\"2025-11-25\"", "\"capabilities\":{}");
    assertThat(log().get(1)).contains("notifications/initialized").doesNotContain("\"id\"");
  }

  @Test
  void tools_nameThatCannotBeUsed_isLeftOut() {
    ProgramSettings plain = server("exit");
    String script =
        plain.command().getLast().replace("{\"name\":\"two\"}", "{\"name\":\"my.two\"}");
    ProgramSettings dotted =
        new ProgramSettings(
            List.of("sh", "-c", script),
            plain.variables(),
            1,
            plain.timeout(),
            ProgramSettings.LINE_BYTES);
    assertThat(new McpProvider(dotted).tools()).extracting(ToolSchema::name).containsExactly("one");
    ProgramSettings none =
        new ProgramSettings(
            List.of("sh", "-c", script.replace("\"name\":\"one\"", "\"name\":\"o.ne\"")),
            plain.variables(),
            1,
            plain.timeout(),
            ProgramSettings.LINE_BYTES);
    assertThatThrownBy(new McpProvider(none)::tools)
        .isInstanceOf(EnvironmentFailedException.class)
        .hasMessageContaining("has no tool that can be called");
  }

  @Test
  void step_results_areTextsForThePolicy() {
    assertThat(
            called(
                server(
                    "reply"
                        + " '\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"image\"},{\"type\":\"text\",\"text\":\"b\"}]}'"),
                "{\"x\":1.0}"))
        .isEqualTo(ToolResult.of("a\n[image, which the policy cannot be shown]\nb"));
    assertThat(log().getLast()).contains("\"arguments\":{\"x\":1.0}");
    assertThat(
            called(
                    server("reply '\"result\":{\"content\":[],\"structuredContent\":{\"n\":4}}'"),
                    "{}")
                .text())
        .isEqualTo("{\"n\":4}");
    assertThat(
            called(
                    server(
                        "reply"
                            + " '\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"\"}],\"structuredContent\":{\"result\":\"\"}}'"),
                    "{}")
                .text())
        .isEmpty();
    ToolResult failed =
        called(
            server(
                "reply"
                    + " '\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"no\"}],\"isError\":true}'"),
            "{}");
    assertThat(failed).isEqualTo(ToolResult.error("no"));
  }

  @Test
  void step_whatThePolicyGotWrong_isAnErrorOfIt() {
    assertThat(
            called(server("reply '\"error\":{\"code\":-32602,\"message\":\"x is needed\"}'"), "{}"))
        .isEqualTo(ToolResult.error("error: x is needed"));
    assertThat(called(server("reply '\"error\":{\"code\":-32042,\"message\":\"no quota\"}'"), "{}"))
        .isEqualTo(ToolResult.error("error: no quota"));
    assertThat(called(server("exit"), "no json").exit()).isEqualTo(1);
  }

  @Test
  void step_serverThatFails_isLostWork() {
    assertThatThrownBy(
            () -> called(server("reply '\"error\":{\"code\":-32600,\"message\":\"disk\"}'"), "{}"))
        .isInstanceOf(EnvironmentFailedException.class)
        .hasMessageContaining("refuses tools/call: disk");
    assertThatThrownBy(() -> called(server("echo broken >&2; exit 7"), "{}"))
        .isInstanceOf(EnvironmentFailedException.class)
        .hasMessageContaining("exit code 7");
  }

  @Test
  void step_serverThatIsSilent_isToldOfTheCancelledCallAndLivesOn() {
    McpServer server = new McpServer(server("sleep 0", Duration.ofSeconds(2)));
    try (server) {
      McpClient client = server.client();
      assertThatThrownBy(() -> client.call(new ToolCall("one", "{}", ToolCall.Status.OK)))
          .isInstanceOf(EnvironmentFailedException.class)
          .hasMessageContaining("did not reply within PT2S to tools/call");
      Await.until(() -> log().getLast().contains("notifications/cancelled"));
      assertThat(log().getLast()).contains("\"requestId\":2");
      assertThat(server.client()).isSameAs(client);
    }
  }

  @Test
  void step_resultLongerThanALineMayBe_failsAtOnceWithTheReason() {
    ProgramSettings plain =
        server("reply '\"result\":\"'$(head -c 2000 /dev/zero | tr '\\0' x)'\"'");
    ProgramSettings bounded =
        new ProgramSettings(plain.command(), plain.variables(), 1, plain.timeout(), 1000);
    assertThatThrownBy(() -> called(bounded, "{}"))
        .isInstanceOf(EnvironmentFailedException.class)
        .hasMessageContaining("answers more than 1000 bytes");
  }

  @Test
  void client_serverThatDied_isStartedAgainAfterAPauseThatDoubles() throws IOException {
    AtomicLong now = new AtomicLong();
    try (McpServer server = new McpServer(server("exit"), now::get)) {
      for (int end = 1; end <= 3; end++) {
        McpClient client = server.client();
        long pid = Long.parseLong(Files.readString(folder.resolve("log.pid")).strip());
        ProcessHandle.of(pid).orElseThrow().destroyForcibly();
        Await.until(() -> !client.isAlive());
        assertThatThrownBy(server::client)
            .isInstanceOf(EnvironmentFailedException.class)
            .hasMessageContaining(
                "ended %d times in a row; it is started again in %d ms".formatted(end, 250 << end));
        now.addAndGet(250L << end);
      }
      assertThat(server.client().isAlive()).isTrue();
    }
  }

  @Test
  void client_serverThatLivedLongerThanThePause_isStartedByTheCallThatFindsItsEnd()
      throws IOException {
    AtomicLong now = new AtomicLong();
    try (McpServer server = new McpServer(server("exit"), now::get)) {
      McpClient client = server.client();
      now.addAndGet(2500);
      long pid = Long.parseLong(Files.readString(folder.resolve("log.pid")).strip());
      ProcessHandle.of(pid).orElseThrow().destroyForcibly();
      Await.until(() -> !client.isAlive());
      assertThat(server.client().isAlive()).isTrue();
    }
  }

  @Test
  void ping_ofTheServer_isAnswered() {
    ProgramSettings pinging =
        server(
            "echo '{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"}'; reply"
                + " '\"result\":{\"content\":[]}'");
    try (McpServer server = new McpServer(pinging)) {
      assertThat(server.client().call(new ToolCall("one", "{}", ToolCall.Status.OK)).text())
          .isEmpty();
      Await.until(() -> log().stream().anyMatch(line -> line.contains("\"id\":\"p\"")));
    }
  }
}
