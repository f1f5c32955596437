package io.troupe.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpServer;
import io.troupe.run.compose.TestRuns;
import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs that are sent to trackers, of which one does not answer. */
final class TrackedRunTest {
  private static final int STEPS = 8;

  @TempDir private Path folder;

  private static HttpServer mlflow(InetSocketAddress at, Set<Long> steps) throws IOException {
    HttpServer http = HttpServer.create(at, 0);
    http.createContext(
        "/",
        exchange -> {
          try (exchange) {
            byte[] body = exchange.getRequestBody().readAllBytes();
            if (exchange.getRequestURI().getPath().endsWith("/runs/log-batch")) {
              new ObjectMapper()
                  .readTree(body)
                  .path("metrics")
                  .forEach(
                      metric -> {
                        if (metric.path("key").asText().equals("train/loss")) {
                          steps.add(metric.path("step").asLong());
                        }
                      });
            }
            byte[] answer =
                "{\"experiment\":{\"experiment_id\":\"3\"},\"run\":{\"info\":{\"run_id\":\"r\"}}}"
                    .getBytes(StandardCharsets.US_ASCII);
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
          }
        });
    http.start();
    return http;
  }

  @Test
  void train_trackerNeverAnswers_stepsAreMade_andTrackSendsThemLater() throws Exception {
    RunFolder run;
    InetSocketAddress place;
    try (ServerSocket blackHole = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      place = new InetSocketAddress(InetAddress.getLoopbackAddress(), blackHole.getLocalPort());
      try (ChildRun child =
          ChildRun.start(
              folder,
              ChildRun.Size.TOY,
              "train",
              TestRuns.write(folder, TestRuns.TOY),
              "--json",
              "--set",
              "tracking=[tensorboard, wandb, mlflow]",
              "--set",
              "trackers.mlflow_url=http://127.0.0.1:" + place.getPort(),
              "--set",
              "trackers.at_end=3s")) {
        assertThat(child.awaitExit()).as(child.said()).isZero();
        run = TestRuns.only(folder);
        assertThat(child.err())
            .contains(
                "track  a tracker lacks part of the run; send it: troupe track " + name(child));
      }
    }
    assertThat(TestRuns.losses(run)).hasSize(STEPS);
    assertThat(run.path().resolve("tensorboard")).isNotEmptyDirectory();
    assertThat(run.path().resolve("wandb")).isNotEmptyDirectory();
    assertThat(run.path().resolve("tracking/process.log"))
        .content()
        .contains("mlflow      lacks part of the run: the time was over before it answered");
    CommandOutput before = CommandOutput.by("track", run.path().toString(), "--dry-run");
    assertThat(before.out())
        .contains("tensorboard has the run, steps up to 8")
        .contains("wandb       has the run, steps up to 8")
        .contains("mlflow      lacks part of the run");

    Set<Long> steps = new ConcurrentSkipListSet<>();
    HttpServer healed = mlflow(place, steps);
    try {
      CommandOutput sent = CommandOutput.by("track", run.path().toString(), "--json");
      assertThat(sent.code()).isZero();
      assertThat(sent.out())
          .contains("{\"tracker\":\"mlflow\",\"step\":8,\"remote\":\"r\",\"complete\":true");
    } finally {
      healed.stop(0);
    }
    assertThat(steps)
        .isEqualTo(
            LongStream.rangeClosed(1, STEPS)
                .boxed()
                .collect(Collectors.toCollection(TreeSet::new)));
  }

  /** The run's folder, as the process calls it. */
  private String name(ChildRun child) throws IOException {
    assertThat(child.err()).anyMatch(line -> line.startsWith("folder "));
    try (var runs = Files.list(folder.resolve("runs"))) {
      return "runs/" + runs.findFirst().orElseThrow().getFileName();
    }
  }

  @Test
  void track_runWithoutTrackers_saysWhatToGive() throws Exception {
    CommandOutput trained =
        CommandOutput.by(
            "train",
            TestRuns.write(folder, TestRuns.TOY),
            "--set",
            "run.folder=" + folder.resolve("runs"),
            "--set",
            "training.steps=1");
    assertThat(trained.code()).isZero();
    RunFolder run = TestRuns.only(folder);
    CommandOutput none = CommandOutput.by("track", run.path().toString());
    assertThat(none.code()).isEqualTo(2);
    assertThat(none.err()).contains("has no tracking; give --to");
    CommandOutput mlflow = CommandOutput.by("track", run.path().toString(), "--to", "mlflow");
    assertThat(mlflow.code()).isEqualTo(2);
    assertThat(mlflow.err()).contains("--set trackers.mlflow_url=");
    CommandOutput sent = CommandOutput.by("track", run.path().toString(), "--to", "tensorboard");
    assertThat(sent.code()).isZero();
    assertThat(sent.out()).contains("tensorboard has the run, steps up to 1");
  }
}
