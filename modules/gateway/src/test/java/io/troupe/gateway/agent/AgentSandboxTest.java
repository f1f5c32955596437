package io.troupe.gateway.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.base.sandbox.ProgramBox;
import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.core.rollout.Episode;
import io.troupe.core.rollout.StopReason;
import io.troupe.engine.SampleRequest;
import io.troupe.engine.SamplingSettings;
import io.troupe.environments.HeldTurns;
import io.troupe.gateway.GatewayFixture;
import io.troupe.gateway.GatewayFixture.ScriptedEngine;
import io.troupe.gateway.dialog.PlainConversation;
import io.troupe.testkit.Await;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Agents in real sandboxes, which tell the policy what they find there. */
class AgentSandboxTest {
  private static final Prompt PROMPT = new Prompt(new PromptId("p"), "s", "2*3=", "6", "");

  /** Asks the policy with what the script has found, in letters of the test's alphabet. */
  private static final String PROGRAM =
      """
      import http.client, json, os, signal, socket, subprocess, sys
      from urllib.parse import urlsplit

      def tell(text):
          url = urlsplit(os.environ["OPENAI_BASE_URL"])
          server = http.client.HTTPConnection(url.hostname, url.port)
          headers = {"Content-Type": "application/json",
                     "Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
          body = {"messages": [{"role": "user", "content": text}]}
          server.request("POST", url.path + "/chat/completions", json.dumps(body), headers)
          return server.getresponse().status

      def fails(what):
          try:
              what()
          except OSError:
              return "1"
          return "0"

      """;

  @TempDir private Path folder;

  /** Prepares folders for sandboxes that root starts, which have users of their own. */
  @BeforeEach
  void letOthersRead() throws IOException {
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  private AgentSandbox sandbox(int processes) {
    return new AgentSandbox(
        List.of(folder.resolve("agent")),
        new ProgramBox.ProgramLimits(512L << 20, processes, 8L << 20));
  }

  private AgentHost host(String script, Duration timeout, ScriptedEngine engine)
      throws IOException {
    Path agent = Files.createDirectories(folder.resolve("agent"));
    Files.writeString(agent.resolve("agent.py"), PROGRAM + script);
    return AgentHost.open(
        new AgentSettings(
            new AgentSource.Program(
                List.of("/usr/bin/python3", agent.resolve("agent.py").toString()),
                Map.of("OWN", "value"),
                2,
                1,
                List.of(sandbox(64))),
            timeout,
            new PlainConversation(GatewayFixture.TOKENIZER),
            4,
            4),
        engine,
        GatewayFixture.TOKENIZER,
        48,
        HeldTurns.ofGroups());
  }

  private static CompletableFuture<List<Episode>> run(AgentHost host) {
    return host.run(
            new SampleRequest(
                GatewayFixture.LEASE,
                GatewayFixture.TOKENIZER.encode(PROMPT.text()),
                1,
                new SamplingSettings(1, 16),
                5),
            PROMPT)
        .toCompletableFuture();
  }

  /** Returns the lines that the agent sent to the policy. */
  private List<String> told(String script) throws IOException {
    ScriptedEngine engine = ScriptedEngine.of(_ -> "6");
    try (AgentHost host = host(script, Duration.ofSeconds(60), engine)) {
      assertThat(run(host).join().getFirst().stop()).isEqualTo(StopReason.COMPLETED);
    }
    return engine.asked();
  }

  @Test
  void run_agentInItsSandbox_reachesTheGatewayAndNothingElse() throws IOException {
    try (ServerSocket neighbour = new ServerSocket(0, 9, InetAddress.getLoopbackAddress())) {
      Files.writeString(folder.resolve("secret"), "answers");
      String script =
          """
          tell("".join([
              fails(lambda: socket.create_connection(("127.0.0.1", %d), 5)),
              fails(lambda: socket.create_connection(("1.1.1.1", 443), 5)),
              fails(lambda: open("%s")),
              fails(lambda: os.listdir("/root")),
              fails(lambda: open(__file__, "a")),
              fails(lambda: open("/usr/written", "w")),
              fails(lambda: open("/tmp/own", "w")),
              fails(lambda: os.kill(1, signal.SIGKILL)),
              str(len([name for name in os.listdir("/proc") if name.isdigit()])),
              os.environ["OWN"][0:1] and "ab"]))
          """
              .formatted(neighbour.getLocalPort(), folder.resolve("secret"));
      // A signal to process 1 of a namespace is sent, and has no effect. There are two processes.
      assertThat(told(script)).containsExactly("111111" + "0" + "0" + "2" + "ab");
    }
  }

  @Test
  void run_agentThatBreaksItsBox_earnsTheRewardOfItsLastAnswer() throws IOException {
    String script =
        """
        tell("2")
        try:
            with open("/tmp/full", "wb") as file:
                while True:
                    file.write(bytes(1 << 20))
        except OSError:
            tell("3")
        children = []
        try:
            while True:
                children.append(subprocess.Popen(["sleep", "600"]))
        except OSError:
            tell("4")
        os.kill(os.getpid(), signal.SIGKILL)
        """;
    assertThat(told(script)).containsExactly("2", "3", "4");
  }

  @Test
  void run_agentThatTakesTooLong_endsWithAllItsProcesses() throws IOException {
    String script =
        """
        subprocess.Popen(["sleep", "98765"], start_new_session=True)
        tell("2")
        subprocess.run(["sleep", "98765"])
        """;
    try (AgentHost host = host(script, Duration.ofSeconds(3), ScriptedEngine.of(_ -> "6"))) {
      assertThat(run(host).join().getFirst().stop()).isEqualTo(StopReason.TIMEOUT);
      Await.until(
          () ->
              ProcessHandle.allProcesses()
                  .noneMatch(each -> each.info().commandLine().orElse("").contains("sleep 98765")));
    }
  }

  @Test
  void run_programThatIsNotInTheSandbox_isLostWorkThatNamesIt() throws IOException {
    AgentSettings settings =
        new AgentSettings(
            new AgentSource.Program(
                List.of("/root/agent"),
                Map.of(),
                1,
                1,
                List.of(new AgentSandbox(List.of(), sandbox(64).limits()))),
            Duration.ofSeconds(60),
            new PlainConversation(GatewayFixture.TOKENIZER),
            4,
            4);
    try (AgentHost host =
        AgentHost.open(
            settings,
            ScriptedEngine.of(_ -> "6"),
            GatewayFixture.TOKENIZER,
            48,
            HeldTurns.ofGroups())) {
      assertThatThrownBy(() -> run(host).join())
          .isInstanceOf(CompletionException.class)
          .cause()
          .isInstanceOf(AgentFailedException.class)
          .hasMessageContaining("/root/agent: No such file or directory");
    }
  }

  @Test
  void check_thisMachine_hasTheSandbox() throws IOException {
    Files.createDirectories(folder.resolve("agent"));
    sandbox(64).check();
  }

  @Test
  void check_folderThatIsNotThere_isRefused() {
    assertThatThrownBy(() -> sandbox(64).check())
        .hasMessage("folder %s cannot be read".formatted(folder.resolve("agent")));
  }
}
