package io.troupe.tracking;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.troupe.core.outage.Backoff;
import io.troupe.core.run.RunEnd;
import io.troupe.testkit.Await;
import io.troupe.testkit.LoopbackServer;
import io.troupe.tracking.PlayedMlflow.Fault;
import io.troupe.tracking.PlayedMlflow.Value;
import io.troupe.tracking.feed.RunFeed;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Runs that are sent to trackers which fail and heal. */
final class RunTrackingTest {
  private static final String REWARD = "train/reward";

  /** A server that is well answers within this, also on a busy machine. */
  private static final Duration ANSWER = Duration.ofSeconds(1);

  @TempDir private Path temporary;

  private final List<String> said = Collections.synchronizedList(new ArrayList<>());

  private static TrackingSettings settings(TrackerKind kind, URI server) {
    return settings(kind, server, Duration.ofSeconds(30));
  }

  private static TrackingSettings settings(TrackerKind kind, URI server, Duration patience) {
    return new TrackingSettings(
        List.of(kind),
        "troupe",
        server,
        server,
        new RunFeed.Tables(4, 3),
        Duration.ZERO,
        Duration.ofSeconds(30),
        patience);
  }

  private RunTracking start(WrittenRun run, TrackingSettings settings) throws IOException {
    return RunTracking.start(
            run.folder(),
            settings,
            Map.of("training.steps", "9", "policy.engine", "toy"),
            Map.of("TRACKIO_WRITE_TOKEN", "t"),
            false,
            new TrackingClock(Duration.ofMillis(5), new Backoff(5, 20)),
            said::add)
        .orElseThrow();
  }

  private static List<Value> whole(int steps) {
    return LongStream.rangeClosed(0, steps)
        .mapToObj(
            step -> new Value(REWARD, step, WrittenRun.atMillis(step), WrittenRun.reward(step)))
        .toList();
  }

  @ParameterizedTest
  @EnumSource(Fault.class)
  void mlflow_serverFailsAndHeals_hasEveryStepOnceWithTheJournalsTimes(Fault fault)
      throws Exception {
    WrittenRun run = WrittenRun.in(temporary).steps(0, 2);
    try (PlayedMlflow server = PlayedMlflow.start()) {
      Duration patience = fault == Fault.BLACK_HOLE ? ANSWER : Duration.ofSeconds(30);
      TrackingSettings settings = settings(TrackerKind.MLFLOW, server.address(), patience);
      try (RunTracking tracking = start(run, settings)) {
        Await.until("the first steps", () -> server.values(REWARD).size() == 3);
        server.fail(fault);
        run.steps(3, 5);
        int before = server.calls();
        Await.until(
            "attempts",
            () ->
                fault == Fault.NONE
                    ? server.values(REWARD).size() == 6
                    : server.calls() > before + 2);
        server.fail(Fault.NONE);
        run.steps(6, 9).end(new RunEnd.Completed(), WrittenRun.atMillis(10));
        tracking.finish(Duration.ofSeconds(30));
        assertThat(tracking.status())
            .containsExactly(new TrackerStatus(TrackerKind.MLFLOW, 9, "run-0", true, ""));
      }
      assertThat(server.values(REWARD)).isEqualTo(whole(9));
      assertThat(server.parameters())
          .isEqualTo(Map.of("training.steps", "9", "policy.engine", "toy"));
      assertThat(server.files().keySet())
          .containsExactlyInAnyOrder(
              "3/run-0/rollouts/step000004.json", "3/run-0/rollouts/step000008.json");
      assertThat(server.status()).isEqualTo("FINISHED");
    }
    if (fault == Fault.NONE) {
      assertThat(said).isEmpty();
    } else {
      assertThat(said).hasSize(2);
      assertThat(said.getFirst()).startsWith("mlflow is behind at step 2: MLflow at http");
      assertThat(said.getLast()).isEqualTo("mlflow works again");
    }
  }

  enum Damage {
    SYSTEM_LINE,
    ROW_WITHOUT_A_STEP,
    ROW_THAT_IS_NO_JSON
  }

  @ParameterizedTest
  @EnumSource(Damage.class)
  void run_damagedLineThatIsMended_isSaid_andEveryStepIsSentOnce(Damage damage) throws Exception {
    WrittenRun run = WrittenRun.in(temporary).steps(0, 2);
    Path system = run.folder().path().resolve("tracking").resolve(RunFeed.SYSTEM);
    try (PlayedMlflow server = PlayedMlflow.start()) {
      try (RunTracking tracking = start(run, settings(TrackerKind.MLFLOW, server.address()))) {
        Await.until("the first steps", () -> server.values(REWARD).size() == 3);
        switch (damage) {
          case SYSTEM_LINE -> {
            Files.writeString(system, "no sample\n");
            run.steps(3, 5);
          }
          case ROW_WITHOUT_A_STEP -> run.steps(3, 5).row("{\"step\":\"six\"}");
          case ROW_THAT_IS_NO_JSON -> run.steps(3, 5).row("{\"step\":6,");
        }
        Await.until("the damage is said", () -> !said.isEmpty());
        if (damage == Damage.SYSTEM_LINE) {
          Files.delete(system);
        } else {
          run.cutTo(5);
        }
        run.steps(6, 9);
        tracking.finish(Duration.ofSeconds(30));
      }
      assertThat(server.values(REWARD)).isEqualTo(whole(9));
    }
    assertThat(said.getFirst()).startsWith("mlflow is behind at step ");
    assertThat(said.getLast()).isEqualTo("mlflow works again");
  }

  @Test
  void mlflow_serverIsGoneUntilTheEnd_saysWhatItLacks_andALaterProcessSendsIt() throws Exception {
    WrittenRun run = WrittenRun.in(temporary).steps(0, 5);
    int port;
    try (PlayedMlflow server = PlayedMlflow.start()) {
      server.fail(Fault.BLACK_HOLE);
      port = server.address().getPort();
      try (RunTracking tracking =
          start(run, settings(TrackerKind.MLFLOW, server.address(), Duration.ofMillis(200)))) {
        Await.until(
            "the problem in the run folder",
            () -> TrackerProblem.read(run.folder(), TrackerKind.MLFLOW).isPresent());
        tracking.finish(Duration.ofMillis(300));
        TrackerProblem problem =
            TrackerProblem.read(run.folder(), TrackerKind.MLFLOW).orElseThrow();
        assertThat(problem.step()).isEqualTo(-1);
        assertThat(problem.reason()).contains("did not answer within");
        assertThat(tracking.status().getFirst().complete()).isFalse();
        assertThat(tracking.status().getFirst().problem()).contains("did not answer within");
      }
    }
    try (PlayedMlflow server = PlayedMlflow.start(port)) {
      TrackingSettings settings = settings(TrackerKind.MLFLOW, server.address());
      for (int process = 0; process < 3; process++) {
        try (RunTracking tracking = start(run, settings)) {
          tracking.finish(Duration.ofSeconds(30));
        }
      }
      assertThat(server.values(REWARD)).isEqualTo(whole(5));
      assertThat(server.runs()).isEqualTo(1);
    }
  }

  @Test
  void mlflow_processDiesBeforeItsCursorIsWritten_findsItsRunAgain() throws Exception {
    WrittenRun run = WrittenRun.in(temporary).steps(0, 3);
    try (PlayedMlflow server = PlayedMlflow.start()) {
      TrackingSettings settings = settings(TrackerKind.MLFLOW, server.address());
      for (int process = 0; process < 2; process++) {
        try (RunTracking tracking = start(run, settings)) {
          tracking.finish(Duration.ofSeconds(30));
        }
        Files.delete(run.folder().path().resolve("tracking/mlflow.json"));
      }
      assertThat(server.runs()).isEqualTo(1);
      assertThat(server.values(REWARD)).isEqualTo(whole(3));
    }
  }

  @Test
  void run_isResumed_stepsThatWereSentAreNotSentAgain() throws Exception {
    WrittenRun run = WrittenRun.in(temporary).steps(0, 6);
    try (PlayedMlflow server = PlayedMlflow.start()) {
      TrackingSettings settings = settings(TrackerKind.MLFLOW, server.address());
      try (RunTracking tracking = start(run, settings)) {
        Await.until("the first steps", () -> server.values(REWARD).size() == 7);
        run.cutTo(3);
        run.steps(4, 8);
        tracking.finish(Duration.ofSeconds(30));
      }
      assertThat(server.values(REWARD)).isEqualTo(whole(8));
    }
  }

  @Test
  void start_anotherProcessTracksTheRun_isRefused() throws Exception {
    WrittenRun run = WrittenRun.in(temporary).steps(0, 1);
    TrackingSettings settings = settings(TrackerKind.TENSORBOARD, URI.create(""));
    try (RunTracking first = start(run, settings)) {
      assertThat(RunTracking.start(run.folder(), settings, Map.of(), Map.of(), false, said::add))
          .isEmpty();
      first.finish(Duration.ofSeconds(30));
    }
    assertThat(RunTracking.statuses(run.folder(), settings, Map.of()))
        .singleElement()
        .matches(status -> status.complete() && status.step() == 1);
  }

  @Test
  void trackio_getsRowsTablesAndConfigWithIdsOfTheirOwn() throws Exception {
    WrittenRun run = WrittenRun.in(temporary).steps(0, 4);
    List<JsonNode> bodies = Collections.synchronizedList(new ArrayList<>());
    List<String> calls = Collections.synchronizedList(new ArrayList<>());
    try (LoopbackServer http =
            LoopbackServer.start(
                exchange -> {
                  try (exchange) {
                    calls.add(
                        exchange.getRequestURI()
                            + " "
                            + exchange.getRequestHeaders().getFirst("X-Trackio-Write-Token"));
                    bodies.add(
                        new ObjectMapper().readTree(exchange.getRequestBody().readAllBytes()));
                    LoopbackServer.answer(exchange, 200, "{}");
                  }
                });
        RunTracking tracking = start(run, settings(TrackerKind.TRACKIO, URI.create(http.url())))) {
      tracking.finish(Duration.ofSeconds(30));
    }
    assertThat(calls).allMatch("/api/bulk_log t"::equals);
    List<JsonNode> logs = bodies.stream().flatMap(body -> body.path("logs").valueStream()).toList();
    String id = run.folder().name() + "@" + WrittenRun.STARTED;
    assertThat(logs.stream().map(log -> log.path("log_id").asText()))
        .containsExactlyInAnyOrder(
            id + ":row:0",
            id + ":row:1",
            id + ":row:2",
            id + ":row:3",
            id + ":row:4",
            id + ":rollouts:4");
    assertThat(logs.getFirst().path("config").path("policy.engine").asText()).isEqualTo("toy");
    assertThat(logs.get(1).path("metrics").path(REWARD).asDouble()).isEqualTo(1 / 64.0);
    JsonNode table = logs.getLast().path("metrics").path("rollouts");
    assertThat(table.path("_type").asText()).isEqualTo("trackio.table");
    assertThat(table.path("_value").get(0).path("completion").asText()).isEqualTo("a|b");
  }
}
