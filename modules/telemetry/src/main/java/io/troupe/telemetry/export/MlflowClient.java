package io.troupe.telemetry.export;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** An MLflow tracking server, spoken to by its REST interface, version 2.0. */
public final class MlflowClient implements AutoCloseable {
  private static final JsonMapper JSON = JsonMapper.builder().build();

  /** The most metrics that one call may carry, by MLflow's documentation of runs/log-batch. */
  private static final int METRICS_A_CALL = 1_000;

  private static final int PARAMETERS_A_CALL = 100;
  private static final int LONGEST_PARAMETER = 500;
  private static final int LONGEST_TAG = 5_000;
  private static final int NOT_FOUND = 404;

  private final URI base;
  private final Optional<String> authorization;
  private final ExportClient server;

  /**
   * A client of a tracking server.
   *
   * @param patience time that the server has for one answer
   */
  public MlflowClient(URI base, Optional<String> authorization, Duration patience) {
    this.base = base;
    this.authorization = authorization;
    this.server = new ExportClient("MLflow", base, patience);
  }

  /**
   * A value of a metric.
   *
   * @param atMillis since 1970
   */
  public record Point(String key, double value, long atMillis, long step) {}

  /** The states of a run that MLflow knows. */
  public enum Status {
    RUNNING,
    FINISHED,
    FAILED,
    KILLED
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

  /** Returns the id of an experiment, which is made if absent. */
  public String experiment(String name) throws IOException, InterruptedException {
    HttpResponse<byte[]> found =
        send(
            HttpRequest.newBuilder(
                    uri(
                        "experiments/get-by-name?experiment_name="
                            + URLEncoder.encode(name, UTF_8)))
                .GET());
    if (found.statusCode() == NOT_FOUND) {
      return post("experiments/create", Map.of("name", name)).path("experiment_id").asText();
    }
    return answer("experiments/get-by-name", found).at("/experiment/experiment_id").asText();
  }

  /** Returns the id of the run of an experiment that has a tag. */
  public Optional<String> find(String experiment, String tag, String value)
      throws IOException, InterruptedException {
    String id =
        post(
                "runs/search",
                Map.of(
                    "experiment_ids",
                    List.of(experiment),
                    "filter",
                    "tags.`%s` = '%s'".formatted(tag, value.replace("'", "\\'")),
                    "max_results",
                    1))
            .at("/runs/0/info/run_id")
            .asText("");
    return id.isEmpty() ? Optional.empty() : Optional.of(id);
  }

  /** Makes a run, and returns its id. */
  public String create(String experiment, String name, long startedMillis, Map<String, String> tags)
      throws IOException, InterruptedException {
    List<Map<String, String>> list = new ArrayList<>();
    tags.forEach((key, value) -> list.add(Map.of("key", key, "value", cut(value, LONGEST_TAG))));
    return post(
            "runs/create",
            Map.of(
                "experiment_id",
                experiment,
                "run_name",
                name,
                "start_time",
                startedMillis,
                "tags",
                list))
        .at("/run/info/run_id")
        .asText();
  }

  /**
   * Adds texts of the run's configuration by path. MLflow takes the same text again, and refuses
   * another one.
   */
  public void parameters(String run, Map<String, String> byPath)
      throws IOException, InterruptedException {
    List<Map<String, Object>> parameters = new ArrayList<>();
    byPath.forEach(
        (path, text) -> {
          String key = path.replaceAll("\\[(\\d+)]", ".$1"); // no brackets in MLflow's names
          parameters.add(Map.of("key", key, "value", cut(text, LONGEST_PARAMETER)));
        });
    batches(run, "params", parameters, PARAMETERS_A_CALL);
  }

  /** Adds values of metrics. MLflow keeps a value that is sent twice once. */
  public void metrics(String run, List<Point> points) throws IOException, InterruptedException {
    List<Map<String, Object>> metrics = new ArrayList<>();
    for (Point point : points) {
      metrics.add(
          Map.of(
              "key",
              point.key(),
              "value",
              point.value(),
              "timestamp",
              point.atMillis(),
              "step",
              point.step()));
    }
    batches(run, "metrics", metrics, METRICS_A_CALL);
  }

  /** Sets the state of a run that continues. */
  public void continues(String run) throws IOException, InterruptedException {
    post("runs/update", Map.of("run_id", run, "status", Status.RUNNING));
  }

  /** Sets the state of a run that has ended. */
  public void ended(String run, Status status, long atMillis)
      throws IOException, InterruptedException {
    post("runs/update", Map.of("run_id", run, "status", status, "end_time", atMillis));
  }

  /**
   * Stores a file of a run where the server takes files itself.
   *
   * @return whether it does
   */
  public boolean artifact(String run, String path, byte[] content)
      throws IOException, InterruptedException {
    String place =
        answer("runs/get", send(HttpRequest.newBuilder(uri("runs/get?run_id=" + run)).GET()))
            .at("/run/info/artifact_uri")
            .asText();
    if (!place.startsWith("mlflow-artifacts:/")) {
      return false;
    }
    String folder = place.replaceFirst("^mlflow-artifacts:(//[^/]*)?/+", "");
    URI file =
        URI.create(base + "/api/2.0/mlflow-artifacts/artifacts/%s/%s".formatted(folder, path));
    server.accepted(
        "PUT " + path,
        send(HttpRequest.newBuilder(file).PUT(HttpRequest.BodyPublishers.ofByteArray(content))));
    return true;
  }

  private static String cut(String text, int longest) {
    return text.substring(0, Math.min(longest, text.length()));
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
    return JSON.readTree(server.accepted(path, response));
  }

  @Override
  public void close() {
    server.close();
  }
}
