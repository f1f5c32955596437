package io.troupe.telemetry.export;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import io.troupe.testkit.LoopbackServer;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The requests to a tracking server, by MLflow's REST interface. */
final class MlflowClientTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** A call of the interface. */
  private record Call(String path, String authorization, JsonNode body) {}

  private final List<Call> calls = Collections.synchronizedList(new ArrayList<>());
  @AutoClose private LoopbackServer http;
  private int refuseFrom = Integer.MAX_VALUE;

  @BeforeEach
  void start() throws IOException {
    http = LoopbackServer.start(this::answer);
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      String path = exchange.getRequestURI().toString().replace("/api/2.0/mlflow/", "");
      byte[] body = exchange.getRequestBody().readAllBytes();
      String authorization = exchange.getRequestHeaders().getFirst("Authorization");
      calls.add(new Call(path, String.valueOf(authorization), JSON.readTree(body)));
      boolean refused = calls.size() >= refuseFrom;
      String answer =
          refused
              ? "{\"error_code\": \"PERMISSION_DENIED\"}"
              : path.equals("experiments/create")
                  ? "{\"experiment_id\": \"7\"}"
                  : "{\"run\": {\"info\": {\"run_id\": \"abc\"}}}";
      int status = refused ? 403 : path.startsWith("experiments/get-by-name") ? 404 : 200;
      LoopbackServer.answer(exchange, status, answer);
    }
  }

  private String add(Optional<String> authorization) throws Exception {
    Map<String, String> parameters = new LinkedHashMap<>();
    IntStream.range(0, 250)
        .forEach(i -> parameters.put("list[%d].key".formatted(i), "v".repeat(i * 3)));
    parameters.put("policy.engine", "toy");
    List<MlflowClient.Point> points = new ArrayList<>();
    for (int step = 0; step <= 600; step++) {
      points.add(new MlflowClient.Point("time/seconds", step / 2.0, 1_000 + 500L * step, step));
      points.add(new MlflowClient.Point("train/reward", 0.25, 1_000 + 500L * step, step));
    }
    URI base = URI.create(http.url());
    try (MlflowClient server = new MlflowClient(base, authorization, ExportClient.PATIENCE)) {
      String run = server.create(server.experiment("my runs"), "run-1", 1_000, Map.of());
      server.parameters(run, parameters);
      server.metrics(run, points);
      server.ended(run, MlflowClient.Status.FINISHED, 301_000);
      return run;
    }
  }

  @Test
  void add_run_sendsParametersAndMetricsInPortionsAndFinishesIt() throws Exception {
    assertThat(add(Optional.of("Bearer t"))).isEqualTo("abc");
    assertThat(calls).allSatisfy(call -> assertThat(call.authorization()).isEqualTo("Bearer t"));
    assertThat(calls.getFirst().path())
        .isEqualTo("experiments/get-by-name?experiment_name=my+runs");
    assertThat(calls.get(1).body().path("name").asText()).isEqualTo("my runs");
    assertThat(calls.get(2).body().path("experiment_id").asText()).isEqualTo("7");
    List<JsonNode> batches =
        calls.stream()
            .filter(call -> call.path().equals("runs/log-batch"))
            .map(Call::body)
            .toList();
    assertThat(batches)
        .allSatisfy(
            batch -> {
              assertThat(batch.path("metrics").size()).isLessThanOrEqualTo(1_000);
              assertThat(batch.path("params").size()).isLessThanOrEqualTo(100);
            });
    List<JsonNode> metrics =
        batches.stream().flatMap(b -> b.path("metrics").valueStream()).toList();
    assertThat(metrics).hasSize(2 * 601);
    assertThat(metrics.getLast().path("step").asLong()).isEqualTo(600);
    assertThat(metrics.getLast().path("timestamp").asLong()).isEqualTo(301_000);
    assertThat(batches.stream().flatMap(batch -> batch.path("params").valueStream()))
        .filteredOn(parameter -> parameter.path("key").asText().equals("policy.engine"))
        .singleElement()
        .satisfies(parameter -> assertThat(parameter.path("value").asText()).isEqualTo("toy"));
    List<JsonNode> parameters =
        batches.stream().flatMap(b -> b.path("params").valueStream()).toList();
    assertThat(parameters).hasSize(251);
    assertThat(parameters.get(249).path("key").asText()).isEqualTo("list.249.key");
    assertThat(parameters.get(249).path("value").asText()).isEqualTo("v".repeat(500));
    JsonNode end = calls.getLast().body();
    assertThat(end.path("status").asText()).isEqualTo("FINISHED");
    assertThat(end.path("end_time").asLong()).isEqualTo(301_000);
  }

  @Test
  void add_serverRefuses_saysWhichCallAndWhatItSaid() {
    refuseFrom = 3;
    assertThatThrownBy(() -> add(Optional.empty()))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(
            "answered runs/create with status 403: {\"error_code\": \"PERMISSION");
  }

  @Test
  void credentials_areThoseOfMlflowsOwnClient() {
    assertThat(MlflowClient.credentials(Map.of())).isEmpty();
    assertThat(MlflowClient.credentials(Map.of("MLFLOW_TRACKING_TOKEN", "t"))).contains("Bearer t");
    assertThat(
            MlflowClient.credentials(
                Map.of("MLFLOW_TRACKING_USERNAME", "u", "MLFLOW_TRACKING_PASSWORD", "p")))
        .contains("Basic dTpw");
  }
}
