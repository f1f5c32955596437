package io.troupe.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.base.files.PrivateFiles;
import io.troupe.core.audit.AuditReport;
import io.troupe.core.run.Phase;
import io.troupe.core.run.RunEnd;
import io.troupe.core.run.RunState;
import io.troupe.run.compose.TestRuns;
import io.troupe.store.audit.JournalAudit;
import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A run that is killed and resumed while agents of elsewhere work for it: two of {@code
 * conf/agents/remote.py}, which live through it, and one that this test plays, whose answers come
 * after the end of its session.
 */
final class RemoteAgentsKillTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String KEY = "0123456789abcdef";
  private static final int MAX_STALENESS = 1;
  private static final int GROUPS_PER_STEP = 3;

  /** Steps of the killed process; it prints a row before them. */
  private static final int STEPS_BEFORE = 2;

  private static final int STEPS = 6;

  @TempDir private Path folder;
  private final HttpClient client = HttpClient.newHttpClient();

  @Test
  void train_killedWhileRemoteAgentsWork_refusesTheirLateAnswersAndLosesNoGroup() throws Exception {
    int port = freePort();
    PrivateFiles.write(folder.resolve("key"), KEY.getBytes(StandardCharsets.UTF_8));
    String config = TestRuns.write(folder, configuration(port));
    Process agents = agents(port);
    try {
      JsonNode task;
      JsonNode unanswered;
      try (ChildRun child =
          ChildRun.train(folder, ChildRun.Size.DJL, config, "training.steps=1000")) {
        child.awaitOut(1 + STEPS_BEFORE);
        task = next(port);
        requireAnswered(ask(task));
        unanswered = next(port);
        child.kill();
      }
      requireSound();

      String run = TestRuns.only(folder).path().toString();
      try (ChildRun child =
          ChildRun.resume(folder, ChildRun.Size.DJL, run, "training.steps=" + STEPS)) {
        child.awaitOut(1);
        requireConcluded(ask(task));
        requireConcluded(ask(unanswered));
        requireConcluded(done(port, task));
        requireConcluded(done(port, unanswered));
        assertThat(child.awaitExit()).as(child.said()).isZero();
      }
      assertThat(agents.isAlive()).as("the agents of the first process serve the second").isTrue();
    } finally {
      agents.descendants().forEach(ProcessHandle::destroyForcibly);
      agents.destroyForcibly().waitFor();
      client.close();
    }
    requireSound();
    requireFinished();
  }

  /** Steps end with the run's own agents: no evaluation, so that every task is of a group. */
  private static String configuration(int port) {
    return TestRuns.DJL
            .replace("every: 4", "every: 0")
            .replace("context_length: 16", "context_length: 64")
        + """
        episode:
          format: inline
          max_turns: 3
          agent:
            timeout: 50s
            remote: {listen: "127.0.0.1:%d", key_file: key, silence: 20s}
        """
            .formatted(port);
  }

  private static int freePort() throws IOException {
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return free.getLocalPort();
    }
  }

  private Process agents(int port) throws IOException {
    Path shipped = Path.of("../../conf/agents").toAbsolutePath();
    return new ProcessBuilder(
            "python3",
            shipped.resolve("remote.py").toString(),
            "--key-file",
            folder.resolve("key").toString(),
            "--count",
            "2",
            "--lines",
            url(port),
            "--",
            "python3",
            shipped.resolve("calculator.py").toString())
        .redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
        .start();
  }

  private static String url(int port) {
    return "http://127.0.0.1:" + port;
  }

  private JsonNode next(int port) throws IOException, InterruptedException {
    HttpResponse<String> given = post(url(port) + "/tasks/next", KEY, "{\"wait\":60}");
    assertThat(given.statusCode()).as(given.body()).isEqualTo(200);
    return JSON.readTree(given.body());
  }

  private HttpResponse<String> ask(JsonNode task) throws IOException, InterruptedException {
    ObjectNode body = JSON.createObjectNode().put("model", task.path("model").asText());
    body.putArray("messages")
        .addObject()
        .put("role", "user")
        .put("content", task.path("task").asText());
    return post(
        task.path("base_url").asText() + "/chat/completions",
        task.path("api_key").asText(),
        JSON.writeValueAsString(body));
  }

  private HttpResponse<String> done(int port, JsonNode task)
      throws IOException, InterruptedException {
    return post("%s/tasks/%s/done".formatted(url(port), task.path("task_id").asText()), KEY, "{}");
  }

  private HttpResponse<String> post(String url, String key, String body)
      throws IOException, InterruptedException {
    return client.send(
        HttpRequest.newBuilder(URI.create(url))
            .timeout(Duration.ofMinutes(2))
            .header("Authorization", "Bearer " + key)
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build(),
        HttpResponse.BodyHandlers.ofString());
  }

  private static void requireAnswered(HttpResponse<String> answer) {
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
  }

  private static void requireConcluded(HttpResponse<String> late) throws IOException {
    assertThat(late.statusCode()).as(late.body()).isEqualTo(409);
    assertThat(JSON.readTree(late.body()).path("error").path("code").asText())
        .isEqualTo("concluded");
  }

  private void requireSound() throws IOException {
    AuditReport report = JournalAudit.of(TestRuns.only(folder)).report();
    assertThat(report.violations()).isEmpty();
  }

  /** Every group of the surviving history ended once, and none was given up. */
  private void requireFinished() throws IOException {
    RunFolder run = TestRuns.only(folder);
    RunHistory history = RunHistory.replay(run, MAX_STALENESS);
    RunState end = history.state();
    assertThat(history.resumes()).isPositive();
    assertThat(end.phase()).isEqualTo(new Phase.Ended(new RunEnd.Completed()));
    assertThat(end.ledger().failed()).as("prompts given up").isZero();
    assertThat(end.ledger().trained()).isEqualTo((long) STEPS * GROUPS_PER_STEP);
    assertThat(history.trained().values())
        .hasSize(STEPS)
        .extracting(List::size)
        .containsOnly(GROUPS_PER_STEP);
  }
}
