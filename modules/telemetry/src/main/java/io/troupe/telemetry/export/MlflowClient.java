package io.troupe.telemetry.export;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** An MLflow tracking server, spoken to by its REST interface, version 2.0. */
public final class MlflowClient implements AutoCloseable {
  private static final JsonMapper JSON = JsonMapper.builder().build();

  /** What one call may carry at most, by MLflow's documentation of runs/log-batch. */
  private static final int METRICS_A_CALL = 1_000;

  private static final int PARAMETERS_A_CALL = 100;
  private static final int LONGEST_PARAMETER = 500;

  private final URI base;
  private final Optional<String> authorization;
  private final ExportClient server;

  public MlflowClient(URI base, Optional<String> authorization) {
    this.base = base;
    this.authorization = authorization;
    this.server = new ExportClient("MLflow", base);
  }

  /** The header that MLflow's own client would send. */
  public static Optional<String> credentials(Map<String, String> environment) {
    String token = environment.getOrDefault("MLFLOW_TRACKING_TOKEN", "");
    if (!token.isEmpty()) {
      return Optional.of("Bearer " + token);
    }
    String user = environment.getOrDefault("MLFLOW_TRACKING_USERNAME", "");
    String password = environment.getOrDefault("MLFLOW_TRACKING_PASSWORD", "");
    return user.isEmpty()
        ? Optional.empty()
        : Optional.of(
            "Basic " + Base64.getEncoder().encodeToString((user + ":" + password).getBytes(UTF_8)));
  }

  /**
   * Adds a run, finished, and returns its id there.
   *
   * @param parameters texts of the run's configuration by path
   * @param rows of the run's metrics
   * @throws IOException if the server refuses; says what it said
   */
  public String add(
      String experiment,
      String name,
      Instant started,
      Map<String, String> parameters,
      List<Map<String, Object>> rows)
      throws IOException, InterruptedException {
    long begin = started.toEpochMilli();
    String run =
        post(
                "runs/create",
                Map.of(
                    "experiment_id",
                    experiment(experiment),
                    "run_name",
                    name,
                    "start_time",
                    begin,
                    "tags",
                    List.of(Map.of("key", "mlflow.source.name", "value", "troupe"))))
            .at("/run/info/run_id")
            .asText();
    batches(run, "params", parameters(parameters), PARAMETERS_A_CALL);
    batches(run, "metrics", metrics(begin, rows), METRICS_A_CALL);
    long end =
        rows.isEmpty() ? begin : begin + Math.round(1000 * number(rows.getLast(), "seconds"));
    post("runs/update", Map.of("run_id", run, "status", "FINISHED", "end_time", end));
    return run;
  }

  private String experiment(String name) throws IOException, InterruptedException {
    HttpResponse<byte[]> found =
        send(
            HttpRequest.newBuilder(
                    uri(
                        "experiments/get-by-name?experiment_name="
                            + URLEncoder.encode(name, UTF_8)))
                .GET());
    if (found.statusCode() == 404) {
      return post("experiments/create", Map.of("name", name)).path("experiment_id").asText();
    }
    return answer("experiments/get-by-name", found).at("/experiment/experiment_id").asText();
  }

  private static List<Map<String, Object>> parameters(Map<String, String> byPath) {
    List<Map<String, Object>> parameters = new ArrayList<>();
    byPath.forEach(
        (path, text) -> {
          String key = path.replaceAll("\\[(\\d+)]", ".$1"); // no brackets in MLflow's names
          String value = text.substring(0, Math.min(LONGEST_PARAMETER, text.length()));
          parameters.add(Map.of("key", key, "value", value));
        });
    return parameters;
  }

  private static List<Map<String, Object>> metrics(long begin, List<Map<String, Object>> rows) {
    List<Map<String, Object>> metrics = new ArrayList<>();
    for (Map<String, Object> row : rows) {
      long at = begin + Math.round(1000 * number(row, "seconds"));
      row.forEach(
          (key, value) -> {
            if (value instanceof Number number
                && Double.isFinite(number.doubleValue())
                && !key.equals("step")) {
              metrics.add(
                  Map.of(
                      "key",
                      key,
                      "value",
                      number.doubleValue(),
                      "timestamp",
                      at,
                      "step",
                      (long) number(row, "step")));
            }
          });
    }
    return metrics;
  }

  private static double number(Map<String, Object> row, String key) {
    return row.get(key) instanceof Number number ? number.doubleValue() : 0;
  }

  private void batches(String run, String what, List<Map<String, Object>> all, int most)
      throws IOException, InterruptedException {
    for (int from = 0; from < all.size(); from += most) {
      List<Map<String, Object>> some = all.subList(from, Math.min(all.size(), from + most));
      post("runs/log-batch", Map.of("run_id", run, what, some));
    }
  }

  private JsonNode post(String path, Map<String, ?> body) throws IOException, InterruptedException {
    byte[] bytes = JSON.writeValueAsBytes(body);
    return answer(
        path,
        send(
            HttpRequest.newBuilder(uri(path))
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofByteArray(bytes))));
  }

  private URI uri(String path) {
    return URI.create(base + "/api/2.0/mlflow/" + path);
  }

  private HttpResponse<byte[]> send(HttpRequest.Builder request)
      throws IOException, InterruptedException {
    authorization.ifPresent(value -> request.header("Authorization", value));
    return server.send(request);
  }

  private JsonNode answer(String path, HttpResponse<byte[]> response) throws IOException {
    if (response.statusCode() != 200) {
      String said = new String(response.body(), UTF_8);
      throw new IOException(
          "MLflow at %s answered %s with status %d: %s"
              .formatted(base, path, response.statusCode(), SafeText.of(said)));
    }
    return JSON.readTree(response.body());
  }

  @Override
  public void close() {
    server.close();
  }
}
