package io.troupe.gateway.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.troupe.base.files.PrivateFiles;
import io.troupe.base.net.HostPort;
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
import io.troupe.net.tls.CertificateAuthority;
import io.troupe.net.tls.HostKeys;
import io.troupe.testkit.Await;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Agents that ask for tasks: played by this process, and the shipped one as a process. */
class RemoteAgentsTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Prompt PROMPT = new Prompt(new PromptId("p"), "s", "2*3=", "6", "");
  private static final String KEY = "0123456789abcdef";
  private static final Duration LONG = Duration.ofMinutes(10);
  private static final Duration SHORT = Duration.ofMillis(300);

  @TempDir private Path folder;
  private HttpClient client = HttpClient.newHttpClient();
  private final List<AutoCloseable> open = new ArrayList<>();

  @BeforeEach
  void makeKey() throws IOException {
    PrivateFiles.write(folder.resolve("key"), (KEY + "\n").getBytes(StandardCharsets.UTF_8));
  }

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable each : open.reversed()) {
      each.close();
    }
    client.close();
  }

  private RemoteAgentSettings settings(Duration silence, Optional<Path> tls) {
    return new RemoteAgentSettings(
        new HostPort("127.0.0.1", 0), folder.resolve("key"), tls, silence);
  }

  /** A host of agents that are given a task for so long, and may be silent for so long. */
  private final class Play {
    final RemoteAgents agents;
    final AgentHost host;

    Play(Duration timeout, Duration silence) {
      this(timeout, settings(silence, Optional.empty()));
    }

    Play(Duration timeout, RemoteAgentSettings settings) {
      agents = new RemoteAgents(settings);
      host =
          AgentHost.open(
              new AgentSettings(
                  new AgentSource.Remote(agents),
                  timeout,
                  new PlainConversation(GatewayFixture.TOKENIZER),
                  4,
                  4),
              ScriptedEngine.of(_ -> "6"),
              GatewayFixture.TOKENIZER,
              48,
              HeldTurns.ofGroups());
      open.add(host);
    }

    CompletableFuture<List<Episode>> run(int episodes) {
      SampleRequest group =
          new SampleRequest(
              GatewayFixture.LEASE,
              GatewayFixture.TOKENIZER.encode(PROMPT.text()),
              episodes,
              new SamplingSettings(1, 16),
              5);
      return host.run(group, PROMPT).toCompletableFuture();
    }

    String url() {
      return "http://127.0.0.1:" + agents.port();
    }

    HttpResponse<String> tasks(String path, String key, String body)
        throws IOException, InterruptedException {
      return post(url() + "/tasks/" + path, key, body);
    }

    JsonNode next() throws IOException, InterruptedException {
      HttpResponse<String> response = tasks("next", KEY, "{\"wait\":60}");
      assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
      return JSON.readTree(response.body());
    }

    int done(JsonNode task, String body) throws IOException, InterruptedException {
      return tasks(task.path("task_id").asText() + "/done", KEY, body).statusCode();
    }
  }

  private HttpResponse<String> post(String url, String key, String body)
      throws IOException, InterruptedException {
    return client.send(
        HttpRequest.newBuilder(URI.create(url))
            .header("Content-Type", "application/json")
            .header("Authorization", "Bearer " + key)
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build(),
        HttpResponse.BodyHandlers.ofString());
  }

  private int ask(JsonNode task) throws IOException, InterruptedException {
    return post(
            task.path("base_url").asText() + "/chat/completions",
            task.path("api_key").asText(),
            "{\"messages\":[{\"role\":\"user\",\"content\":\"2*3=\"}]}")
        .statusCode();
  }

  private static Throwable failureOf(CompletableFuture<List<Episode>> group) {
    return group.handle((_, failure) -> failure.getCause()).orTimeout(60, TimeUnit.SECONDS).join();
  }

  @Test
  void next_task_saysWhatAnAgentNeedsAndNotTheAnswer() throws Exception {
    Play play = new Play(LONG, LONG);
    CompletableFuture<List<Episode>> group = play.run(1);
    JsonNode task = play.next();
    assertThat(task.path("base_url").asText())
        .isEqualTo(play.url() + "/e/" + task.path("task_id").asText() + "/v1");
    assertThat(task.path("task").asText()).isEqualTo("2*3=");
    assertThat(task.path("prompt_id").asText()).isEqualTo("p");
    assertThat(task.path("timeout").asDouble()).isEqualTo(600);
    assertThat(task.path("silence").asDouble()).isEqualTo(600);
    assertThat(task.has("answer")).isFalse();
    assertThat(ask(task)).isEqualTo(200);
    assertThat(play.done(task, "{}")).isEqualTo(200);
    Episode episode = group.get(60, TimeUnit.SECONDS).getFirst();
    assertThat(episode.stop()).isEqualTo(StopReason.COMPLETED);
    assertThat(episode.turns()).hasSize(1);
    assertThat(ask(task)).isEqualTo(409);
    assertThat(play.done(task, "{}")).isEqualTo(409);
  }

  @Test
  void next_withoutTheKeyOfAgents_isRefused() throws Exception {
    Play play = new Play(LONG, LONG);
    CompletableFuture<List<Episode>> group = play.run(1);
    assertThat(play.tasks("next", "", "{}").statusCode()).isEqualTo(401);
    JsonNode task = play.next();
    String sessionKey = task.path("api_key").asText();
    assertThat(play.tasks("next", sessionKey, "{}").statusCode()).isEqualTo(401);
    assertThat(play.tasks(task.path("task_id").asText() + "/done", sessionKey, "{}").statusCode())
        .isEqualTo(401);
    assertThat(
            post(
                    task.path("base_url").asText() + "/chat/completions",
                    KEY,
                    "{\"messages\":[{\"role\":\"user\",\"content\":\"2*3=\"}]}")
                .statusCode())
        .isEqualTo(401);
    assertThat(group).isNotDone();
  }

  @Test
  void next_withoutATask_endsWithoutOne() throws Exception {
    Play play = new Play(LONG, LONG);
    assertThat(play.tasks("next", KEY, "{\"wait\":0}").statusCode()).isEqualTo(204);
    assertThat(play.tasks("next", KEY, "{\"wait\":0.05}").statusCode()).isEqualTo(204);
    assertThat(play.tasks("next", KEY, "{\"wait\":61}").body())
        .contains("wait is from 0 to 60 seconds");
    assertThat(play.tasks("other", KEY, "{}").statusCode()).isEqualTo(404);
  }

  @Test
  void next_repeatedByItsNumber_isTheSameTaskUntilThePolicyIsAsked() throws Exception {
    Play play = new Play(LONG, LONG);
    CompletableFuture<List<Episode>> group = play.run(2);
    String body = "{\"request\":\"r1\",\"wait\":60}";
    String first = play.tasks("next", KEY, body).body();
    assertThat(play.tasks("next", KEY, body).body()).isEqualTo(first);
    JsonNode other = play.next();
    assertThat(other.path("task_id")).isNotEqualTo(JSON.readTree(first).path("task_id"));
    assertThat(ask(JSON.readTree(first))).isEqualTo(200);
    assertThat(ask(other)).isEqualTo(200);
    assertThat(play.done(JSON.readTree(first), "{}")).isEqualTo(200);
    assertThat(play.done(other, "{}")).isEqualTo(200);
    assertThat(group.get(60, TimeUnit.SECONDS)).hasSize(2);
    assertThat(play.tasks("next", KEY, body.replace("60", "0")).statusCode()).isEqualTo(204);
  }

  @Test
  void run_agentThatVanishesBeforeItAsks_givesItsTaskToAnother() throws Exception {
    Play play = new Play(LONG, SHORT);
    CompletableFuture<List<Episode>> group = play.run(1);
    JsonNode gone = play.next();
    JsonNode task = play.next();
    assertThat(task.path("api_key")).isNotEqualTo(gone.path("api_key"));
    assertThat(ask(gone)).isEqualTo(409);
    assertThat(ask(task)).isEqualTo(200);
    assertThat(play.done(task, "{}")).isEqualTo(200);
    assertThat(group.get(60, TimeUnit.SECONDS).getFirst().turns()).hasSize(1);
  }

  @Test
  void run_agentThatVanishesBehindATurn_isLostWork() throws Exception {
    Play play = new Play(LONG, SHORT);
    CompletableFuture<List<Episode>> group = play.run(1);
    JsonNode task = play.next();
    assertThat(ask(task)).isEqualTo(200);
    assertThat(failureOf(group))
        .isInstanceOf(AgentFailedException.class)
        .hasMessageStartingWith(
            "the agent that has task %s gave no sign of life for "
                .formatted(task.path("task_id").asText()));
  }

  @Test
  void run_tasksThatEveryAgentVanishesFrom_areLostWork() throws Exception {
    Play play = new Play(LONG, SHORT);
    CompletableFuture<List<Episode>> group = play.run(1);
    for (int i = 0; i < 3; i++) {
      play.next();
    }
    assertThat(failureOf(group)).isInstanceOf(AgentFailedException.class);
  }

  @Test
  void run_agentThatGivesSignsOfLife_isEndedByItsTimeout() throws Exception {
    Play play = new Play(Duration.ofSeconds(2), Duration.ofSeconds(1));
    CompletableFuture<List<Episode>> group = play.run(1);
    JsonNode task = play.next();
    assertThat(ask(task)).isEqualTo(200);
    String alive = task.path("task_id").asText() + "/alive";
    while (play.tasks(alive, KEY, "{}").statusCode() == 200) {
      Thread.onSpinWait();
    }
    assertThat(play.tasks(alive, KEY, "{}").statusCode()).isEqualTo(409);
    assertThat(group.get(60, TimeUnit.SECONDS).getFirst().stop()).isEqualTo(StopReason.TIMEOUT);
  }

  @Test
  void run_agentThatSaysThatItFailed_isLostWorkWithItsReason() throws Exception {
    Play play = new Play(LONG, LONG);
    CompletableFuture<List<Episode>> group = play.run(1);
    JsonNode task = play.next();
    assertThat(ask(task)).isEqualTo(200);
    assertThat(play.done(task, "{\"failed\":\"no disk\"}")).isEqualTo(200);
    assertThat(failureOf(group)).hasMessage("the agent says that it failed: no disk");
  }

  @Test
  void run_agentThatNeverAsks_isLostWork() throws Exception {
    Play play = new Play(LONG, LONG);
    CompletableFuture<List<Episode>> group = play.run(1);
    assertThat(play.done(play.next(), "{}")).isEqualTo(200);
    assertThat(failureOf(group)).hasMessageStartingWith("the remote agent ended without asking");
  }

  @Test
  void cancel_groupWithAndWithoutAgents_endsBoth() throws Exception {
    Play play = new Play(LONG, LONG);
    CompletableFuture<List<Episode>> group = play.run(2);
    JsonNode task = play.next();
    play.host.cancel(GatewayFixture.LEASE);
    assertThat(failureOf(group)).isInstanceOf(CancellationException.class);
    assertThat(play.tasks(task.path("task_id").asText() + "/alive", KEY, "{}").statusCode())
        .isEqualTo(409);
    assertThat(play.tasks("next", KEY, "{\"wait\":0}").statusCode()).isEqualTo(204);
  }

  @Test
  void open_severalUsers_shareOneServerUntilTheLastCloses() throws Exception {
    RemoteAgents agents = new RemoteAgents(settings(LONG, Optional.empty()));
    AgentRunner first = agents.open();
    try (AgentRunner second = agents.open()) {
      assertThat(second.server()).isSameAs(first.server());
      first.close();
      first.close();
      assertThat(agents.port()).isPositive();
    }
    assertThat(agents.port()).isZero();
  }

  @Test
  void open_portThatIsTaken_isTheNext() throws Exception {
    RemoteAgents first = new RemoteAgents(settings(LONG, Optional.empty()));
    open.add(first.open());
    RemoteAgents second =
        new RemoteAgents(
            new RemoteAgentSettings(
                new HostPort("127.0.0.1", first.port()),
                folder.resolve("key"),
                Optional.empty(),
                LONG));
    open.add(second.open());
    assertThat(second.port()).isBetween(first.port() + 1, first.port() + 63);
  }

  @Test
  void check_keyThatOthersCanReadOrIsShort_isRefused() throws IOException {
    RemoteAgents agents = new RemoteAgents(settings(LONG, Optional.empty()));
    Files.setPosixFilePermissions(
        folder.resolve("key"),
        java.nio.file.attribute.PosixFilePermissions.fromString("rw-r--r--"));
    assertThatThrownBy(agents::check).hasMessageContaining("can be read by others (rw-r--r--)");
    PrivateFiles.write(folder.resolve("key"), "short".getBytes(StandardCharsets.UTF_8));
    assertThatThrownBy(agents::check)
        .hasMessageEndingWith("has 5 characters; a key of remote agents has 16 or more");
    Files.delete(folder.resolve("key"));
    assertThatThrownBy(agents::check).hasMessageContaining("make one with: (umask 077; openssl");
  }

  @Test
  void next_overTls_namesHttps() throws Exception {
    CertificateAuthority authority = CertificateAuthority.init(folder.resolve("ca"), "test");
    HostKeys keys = authority.issue("a", List.of("localhost"), 2);
    Play play = new Play(LONG, settings(LONG, Optional.of(keys.folder())));
    CompletableFuture<List<Episode>> group = play.run(1);
    client = HttpClient.newBuilder().sslContext(keys.context()).build();
    String url = "https://localhost:%d/tasks/next".formatted(play.agents.port());
    JsonNode task = JSON.readTree(post(url, KEY, "{\"wait\":60}").body());
    assertThat(task.path("base_url").asText())
        .startsWith("https://localhost:%d/e/".formatted(play.agents.port()));
    assertThat(ask(task)).isEqualTo(200);
    String done = url.replace("next", task.path("task_id").asText() + "/done");
    assertThat(post(done, KEY, "{}").statusCode()).isEqualTo(200);
    assertThat(group.get(60, TimeUnit.SECONDS)).hasSize(1);
  }

  /** conf/agents/remote.py with the shipped calculator, which is killed between two groups. */
  @Test
  void run_shippedAgent_worksUntilItIsKilledAndThenAnotherDoes() throws Exception {
    Play play = new Play(LONG, Duration.ofSeconds(3));
    Process first = shipped(play, "calculator.py");
    assertThat(play.run(3).get(60, TimeUnit.SECONDS))
        .extracting(Episode::stop)
        .containsOnly(StopReason.COMPLETED);
    first.destroyForcibly().waitFor();
    CompletableFuture<List<Episode>> group = play.run(2);
    shipped(play, "calculator.py");
    assertThat(group.get(60, TimeUnit.SECONDS)).hasSize(2);
  }

  @Test
  void run_shippedAgentWhoseRunEndsItsTask_endsItsProgram() throws Exception {
    Play play = new Play(LONG, Duration.ofSeconds(3));
    Path pid = folder.resolve("pid");
    Path script = folder.resolve("slow.sh");
    Files.writeString(script, "echo $$ > %s.new; mv %s.new %s; sleep 600".formatted(pid, pid, pid));
    CompletableFuture<List<Episode>> group = play.run(1);
    agent(play, List.of("bash", script.toString()), List.of());
    Await.until(() -> Files.exists(pid));
    long started = Long.parseLong(Files.readString(pid).strip());
    play.host.cancel(GatewayFixture.LEASE);
    assertThat(failureOf(group)).isInstanceOf(CancellationException.class);
    Await.until(() -> ProcessHandle.of(started).filter(ProcessHandle::isAlive).isEmpty());
  }

  private Process shipped(Play play, String program) throws IOException {
    return agent(play, List.of("python3", "../../conf/agents/" + program), List.of("--lines"));
  }

  private Process agent(Play play, List<String> program, List<String> options) throws IOException {
    List<String> command = new ArrayList<>(List.of("python3", "../../conf/agents/remote.py"));
    command.addAll(List.of("--key-file", folder.resolve("key").toString()));
    command.addAll(options);
    command.addAll(List.of(play.url(), "--"));
    command.addAll(program);
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    open.add(
        () -> {
          process.descendants().forEach(ProcessHandle::destroyForcibly);
          process.destroyForcibly().waitFor();
        });
    return process;
  }
}
