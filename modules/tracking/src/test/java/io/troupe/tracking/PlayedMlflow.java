package io.troupe.tracking;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * An MLflow tracking server: it keeps runs, refuses a changed parameter, keeps a repeated value of
 * a metric once, and fails as it is asked to.
 */
public final class PlayedMlflow implements AutoCloseable {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** The faults of calls. */
  public enum Fault {
    NONE,
    /** No answer. */
    BLACK_HOLE,
    /** Status 429. */
    THROTTLED,
    /** Status 500. */
    BROKEN,
    /** The call is carried out, and the answer is lost. */
    ANSWER_LOST
  }

  /** A value that the server keeps. */
  public record Value(String key, long step, long timestamp, double value) {}

  private final HttpServer http;
  private final CountDownLatch closing = new CountDownLatch(1);
  private final AtomicInteger calls = new AtomicInteger();
  private final List<Value> values = Collections.synchronizedList(new ArrayList<>());
  private final Map<String, String> parameters = Collections.synchronizedMap(new TreeMap<>());
  private final Map<String, Integer> files = Collections.synchronizedMap(new TreeMap<>());
  private final Map<String, String> runs = Collections.synchronizedMap(new HashMap<>());
  private volatile Fault fault = Fault.NONE;
  private volatile String status = "";

  private PlayedMlflow(HttpServer http) {
    this.http = http;
  }

  /** Starts a server on the loopback interface. */
  public static PlayedMlflow start() throws IOException {
    return start(0);
  }

  /** Starts a server at a port. */
  public static PlayedMlflow start(int port) throws IOException {
    HttpServer http =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
    PlayedMlflow played = new PlayedMlflow(http);
    http.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    http.createContext("/", played::answer);
    http.start();
    return played;
  }

  public URI address() {
    return URI.create("http://127.0.0.1:" + http.getAddress().getPort());
  }

  /** Fails from now on. */
  public void fail(Fault next) {
    fault = next;
  }

  /** Returns the number of calls. */
  public int calls() {
    return calls.get();
  }

  /** The values of a metric, in the order in which they came. */
  public List<Value> values(String key) {
    synchronized (values) {
      return values.stream().filter(value -> value.key().equals(key)).toList();
    }
  }

  public Map<String, String> parameters() {
    return Map.copyOf(parameters);
  }

  /** Bytes of the files by path. */
  public Map<String, Integer> files() {
    return Map.copyOf(files);
  }

  /** Returns the number of runs. */
  public int runs() {
    return runs.size();
  }

  /** The state of the run. */
  public String status() {
    return status;
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      calls.incrementAndGet();
      byte[] body = exchange.getRequestBody().readAllBytes();
      String path = exchange.getRequestURI().getPath();
      switch (fault) {
        case BLACK_HOLE -> await();
        case THROTTLED -> send(exchange, 429, "{\"error_code\":\"RESOURCE_EXHAUSTED\"}");
        case BROKEN -> send(exchange, 500, "<html>oops</html>");
        case ANSWER_LOST -> take(exchange.getRequestMethod(), path, body);
        case NONE -> {
          String said = take(exchange.getRequestMethod(), path, body);
          send(exchange, said.isEmpty() ? 400 : 200, said.isEmpty() ? "{}" : said);
        }
      }
    }
  }

  private void await() {
    try {
      closing.await();
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
  }

  private static void send(HttpExchange exchange, int status, String body) throws IOException {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(status, bytes.length);
    exchange.getResponseBody().write(bytes);
  }

  /** The answer; "" if the call is refused. */
  private String take(String method, String path, byte[] body) throws IOException {
    if (method.equals("PUT")) {
      files.put(path.replaceFirst(".*/artifacts/", ""), body.length);
      return "{}";
    }
    JsonNode json = body.length == 0 ? JSON.createObjectNode() : JSON.readTree(body);
    return switch (path.replace("/api/2.0/mlflow/", "")) {
      case "experiments/get-by-name" -> "{\"experiment\":{\"experiment_id\":\"3\"}}";
      case "runs/search" -> search(json.path("filter").asText());
      case "runs/create" -> create(json.path("tags"));
      case "runs/get" -> "{\"run\":{\"info\":{\"artifact_uri\":\"mlflow-artifacts:/3/run-0\"}}}";
      case "runs/update" -> {
        status = json.path("status").asText();
        yield "{}";
      }
      case "runs/log-batch" -> log(json);
      default -> "";
    };
  }

  private String search(String filter) {
    String id = runs.getOrDefault(filter.replaceFirst("(?s).* = '(.*)'", "$1"), "");
    return id.isEmpty() ? "{}" : "{\"runs\":[{\"info\":{\"run_id\":\"%s\"}}]}".formatted(id);
  }

  private String create(JsonNode tags) {
    String id = "run-" + runs.size();
    runs.put(tags.get(0).path("value").asText(), id);
    return "{\"run\":{\"info\":{\"run_id\":\"%s\"}}}".formatted(id);
  }

  private String log(JsonNode json) {
    for (JsonNode one : json.path("params")) {
      String old = parameters.putIfAbsent(one.path("key").asText(), one.path("value").asText());
      if (old != null && !old.equals(one.path("value").asText())) {
        return "";
      }
    }
    synchronized (values) {
      for (JsonNode one : json.path("metrics")) {
        Value value =
            new Value(
                one.path("key").asText(),
                one.path("step").asLong(),
                one.path("timestamp").asLong(),
                one.path("value").asDouble());
        if (!values.contains(value)) {
          values.add(value);
        }
      }
    }
    return "{}";
  }

  @Override
  public void close() {
    closing.countDown();
    http.stop(0);
  }
}
