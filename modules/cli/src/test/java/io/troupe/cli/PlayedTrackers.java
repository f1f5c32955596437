package io.troupe.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * MLflow and Trackio on one port of the loopback device, as far as a run's losses go; they can be a
 * black hole, which takes requests and does not answer them.
 */
final class PlayedTrackers implements AutoCloseable {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final byte[] ANSWER =
      "{\"experiment\":{\"experiment_id\":\"3\"},\"run\":{\"info\":{\"run_id\":\"r\"}}}"
          .getBytes(StandardCharsets.US_ASCII);

  private final HttpServer http;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final Set<Long> mlflow = new ConcurrentSkipListSet<>();
  private final Set<Long> trackio = new ConcurrentSkipListSet<>();
  private final AtomicInteger swallowed = new AtomicInteger();
  private volatile CountDownLatch healed = new CountDownLatch(0);

  private PlayedTrackers(HttpServer http) {
    this.http = http;
  }

  /**
   * Starts the servers.
   *
   * @param port 0 for any
   */
  static PlayedTrackers start(int port) throws IOException {
    HttpServer http =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
    PlayedTrackers trackers = new PlayedTrackers(http);
    http.setExecutor(trackers.threads);
    http.createContext("/", trackers::handle);
    http.start();
    return trackers;
  }

  String address() {
    return "http://127.0.0.1:" + http.getAddress().getPort();
  }

  /** From now on no request is answered. */
  void blackHole() {
    healed = new CountDownLatch(1);
  }

  /** From now on requests are answered; the connections of those before end. */
  void heal() {
    healed.countDown();
  }

  /** Requests that have come and got no answer. */
  int swallowed() {
    return swallowed.get();
  }

  /** Steps whose loss MLflow has. */
  Set<Long> mlflow() {
    return new TreeSet<>(mlflow);
  }

  /** Steps whose loss Trackio has. */
  Set<Long> trackio() {
    return new TreeSet<>(trackio);
  }

  private void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      byte[] body = exchange.getRequestBody().readAllBytes();
      CountDownLatch hole = healed;
      if (hole.getCount() > 0) {
        swallowed.incrementAndGet();
        hole.await();
        return;
      }
      String path = exchange.getRequestURI().getPath();
      if (path.endsWith("/runs/log-batch")) {
        JSON.readTree(body).path("metrics").forEach(metric -> loss(metric));
      } else if (path.endsWith("/bulk_log")) {
        JSON.readTree(body).path("logs").forEach(log -> row(log));
      }
      exchange.sendResponseHeaders(200, ANSWER.length);
      exchange.getResponseBody().write(ANSWER);
    } catch (InterruptedException closed) {
      Thread.currentThread().interrupt();
    }
  }

  private void loss(JsonNode metric) {
    if (metric.path("key").asText().equals("train/loss")) {
      mlflow.add(metric.path("step").asLong());
    }
  }

  private void row(JsonNode log) {
    if (log.path("metrics").has("train/loss")) {
      trackio.add(log.path("step").asLong());
    }
  }

  @Override
  public void close() {
    http.stop(0);
    threads.shutdownNow();
  }
}
