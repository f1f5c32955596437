package io.troupe.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.rollout.Episode;
import io.troupe.core.rollout.StopReason;
import io.troupe.engine.SamplingSettings;
import io.troupe.gateway.dialog.ChatmlFixture;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Agents that know nothing of this gateway. On demand: {@code TROUPE_NPM} is a folder in which
 * {@code npm install openai @anthropic-ai/sdk @openai/codex @anthropic-ai/claude-code} was run;
 * docs/development.md. What they send is written to {@code target/recorded}.
 */
@EnabledIfEnvironmentVariable(named = UnmodifiedAgentsTest.NPM, matches = ".+")
class UnmodifiedAgentsTest {
  static final String NPM = "TROUPE_NPM";
  private static final String KEY = "sesame";
  private static final int SECONDS = 120;

  @TempDir private Path folder;

  @ParameterizedTest
  @ValueSource(
      strings = {
        "chat",
        "chat-stream",
        "responses",
        "responses-stream",
        "messages",
        "messages-stream",
        "codex",
        "claude"
      })
  void episode_unmodifiedAgent_isOneSequenceWithItsToolRun(String agent) throws Exception {
    Path recorded = Files.createDirectories(Path.of("target/recorded"));
    GatewaySession session =
        GatewaySession.of(
            "g3-9-0",
            KEY,
            GatewayFixture.LEASE,
            new GatewaySession.Rules(
                new TurnCodec(
                    ChatmlFixture.conversation(), ChatmlFixture.tokenizer(), Integer.MAX_VALUE),
                8,
                8),
            new SamplingSettings(1, 1024),
            new ShellCaller(tool(agent)));
    try (GatewayServer server = GatewayServer.start();
        RecordingRelay relay = RecordingRelay.start(server.url(session), recorded, agent)) {
      server.open(session);
      assertThat(output(agent, relay.url())).contains("All done.");
      Episode episode = session.end(StopReason.COMPLETED).orElseThrow();
      assertThat(episode.turns()).hasSize(2);
      assertThat(episode.turns().getFirst().tools()).hasSize(1);
      assertThat(episode.sequences()).hasSize(1);
    }
  }

  private static String tool(String agent) {
    return switch (agent) {
      case "codex" -> "exec_command";
      case "claude" -> "Bash";
      default -> "shell";
    };
  }

  private String output(String agent, String url) throws IOException, InterruptedException {
    Path npm = Path.of(System.getenv(NPM)).toAbsolutePath();
    Path output = folder.resolve("output");
    ProcessBuilder builder =
        new ProcessBuilder(command(agent, npm, url))
            .directory(Files.createDirectories(folder.resolve("work")).toFile())
            .redirectErrorStream(true)
            .redirectInput(ProcessBuilder.Redirect.from(new java.io.File("/dev/null")))
            .redirectOutput(output.toFile());
    builder
        .environment()
        .putAll(
            Map.ofEntries(
                Map.entry("HOME", folder.toString()),
                Map.entry("NODE_MODULES", npm.resolve("node_modules").toString()),
                Map.entry("OPENAI_BASE_URL", url + "/v1"),
                Map.entry("OPENAI_API_KEY", KEY),
                Map.entry("ANTHROPIC_BASE_URL", url),
                Map.entry("ANTHROPIC_AUTH_TOKEN", KEY),
                Map.entry("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
                Map.entry("DISABLE_AUTOUPDATER", "1"),
                Map.entry("IS_SANDBOX", "1")));
    Process process = builder.start();
    try {
      assertThat(process.waitFor(SECONDS, TimeUnit.SECONDS)).as("ended").isTrue();
    } finally {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
    return Files.readString(output);
  }

  private List<String> command(String agent, Path npm, String url) throws IOException {
    String task = "Run echo hello and finish.";
    return switch (agent) {
      case "codex" -> {
        String provider = "model_providers.gateway.";
        List<String> command =
            new ArrayList<>(
                List.of(
                    npm.resolve("node_modules/.bin/codex").toString(),
                    "exec",
                    "--skip-git-repo-check",
                    "--dangerously-bypass-approvals-and-sandbox"));
        for (String setting :
            List.of(
                "model=\"policy\"",
                "model_provider=\"gateway\"",
                provider + "name=\"gateway\"",
                provider + "base_url=\"" + url + "/v1\"",
                provider + "env_key=\"OPENAI_API_KEY\"",
                provider + "wire_api=\"responses\"")) {
          command.addAll(List.of("-c", setting));
        }
        command.add(task);
        yield command;
      }
      case "claude" ->
          List.of(
              npm.resolve("node_modules/@anthropic-ai/claude-code-linux-x64/claude").toString(),
              "-p",
              "--dangerously-skip-permissions",
              task);
      default -> {
        Path script = folder.resolve("clients.mjs");
        try (var source =
            Objects.requireNonNull(UnmodifiedAgentsTest.class.getResourceAsStream("clients.mjs"))) {
          Files.write(script, source.readAllBytes());
        }
        yield List.of("node", script.toString(), agent);
      }
    };
  }
}
