package io.troupe.engine.http.client;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.engine.http.protocol.CallFailure;
import io.troupe.engine.http.protocol.Dialect;
import io.troupe.engine.http.protocol.GenerateRequest;
import io.troupe.engine.protocol.JsonFields;
import io.troupe.engine.protocol.MalformedResponseException;
import io.troupe.net.http.WholeResponse;
import java.io.IOException;
import java.net.ConnectException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.BooleanSupplier;

/**
 * An HTTP/1.1 client of one server. It never offers the upgrade to HTTP/2: uvicorn drops the body
 * of a request that offers it. Idle connections are closed after 3 s, before uvicorn closes them
 * after 5 s, possibly while a request is being written. No redirect, no proxy.
 *
 * <p>The client's own thread reads answers and completes requests, so continuations of them must
 * not block.
 */
public final class InferenceClient implements AutoCloseable {
  private static final String KEEP_ALIVE = "jdk.httpclient.keepalive.timeout";
  private static final String KEEP_ALIVE_SECONDS = "3";

  /** Most bytes of an answer without a more specific bound. */
  private static final int MOST_BYTES = 10 << 20;

  static {
    if (System.getProperty(KEEP_ALIVE) == null) {
      System.setProperty(KEEP_ALIVE, KEEP_ALIVE_SECONDS);
    }
  }

  /**
   * An answer of any status.
   *
   * @param retryAfter the header, or empty
   */
  public record Response(int status, String body, String retryAfter) {
    public boolean ok() {
      return status == 200;
    }

    /** The body as JSON; an empty object if the body is no JSON object. */
    public JsonNode json() {
      try {
        return JsonFields.parse(body);
      } catch (MalformedResponseException notJson) {
        return JsonFields.object();
      }
    }

    public CallFailure fault() {
      return CallFailure.ofStatus(status, body, retryAfter);
    }
  }

  private final InferenceEndpoint endpoint;
  private final HttpClient client;

  public InferenceClient(InferenceEndpoint endpoint) {
    this.endpoint = endpoint;
    this.client =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .followRedirects(HttpClient.Redirect.NEVER)
            .proxy(HttpClient.Builder.NO_PROXY)
            .executor(Runnable::run) // continuations are short, and a thread costs more
            .connectTimeout(endpoint.patience().connect())
            .build();
  }

  public InferenceEndpoint endpoint() {
    return endpoint;
  }

  /**
   * Sends a GET request and waits.
   *
   * @param timeout for the whole answer
   * @throws InferenceCallException if no whole answer arrived
   */
  public Response get(String path, Duration timeout) throws InterruptedException {
    return send(request(path).GET().build(), timeout, MOST_BYTES);
  }

  /** Sends JSON, and waits. */
  public Response post(String path, JsonNode body, Duration timeout) throws InterruptedException {
    return post(path, body, timeout, MOST_BYTES);
  }

  /**
   * Sends JSON and waits, with a specific bound on the answer.
   *
   * @param mostBytes most bytes of an answer with status 200; a longer answer fails
   */
  public Response post(String path, JsonNode body, Duration timeout, long mostBytes)
      throws InterruptedException {
    return send(json(path, body).build(), timeout, mostBytes);
  }

  private Response send(HttpRequest request, Duration timeout, long mostBytes)
      throws InterruptedException {
    try {
      HttpResponse<String> response =
          WholeResponse.within(
              client,
              request,
              info ->
                  info.statusCode() == 200
                      ? HttpResponse.BodySubscribers.limiting(
                          HttpResponse.BodySubscribers.ofString(StandardCharsets.UTF_8), mostBytes)
                      : new BoundedBody(),
              timeout);
      return new Response(
          response.statusCode(),
          response.body(),
          response.headers().firstValue("Retry-After").orElse(""));
    } catch (IOException broken) {
      throw new InferenceCallException(endpoint, fault(broken));
    }
  }

  /** Starts a streaming request, the first request for its completions. */
  public StreamingCall sample(
      Dialect dialect,
      GenerateRequest request,
      BooleanSupplier paused,
      ScheduledExecutorService clock) {
    return sample(dialect, request, System.nanoTime(), paused, () -> false, clock);
  }

  /**
   * Starts a streaming request.
   *
   * @param sinceNanos time of the first request for its completions
   * @param queueing whether requests wait at the server while it samples for other clients
   */
  public StreamingCall sample(
      Dialect dialect,
      GenerateRequest request,
      long sinceNanos,
      BooleanSupplier paused,
      BooleanSupplier queueing,
      ScheduledExecutorService clock) {
    HttpRequest http =
        json(dialect.codec().path(), dialect.codec().body(request, true))
            .header("X-Request-Id", request.id())
            .build();
    StreamingCall call =
        new StreamingCall(endpoint, dialect, request.completions(), sinceNanos, paused, queueing);
    call.start(client, http, clock);
    return call;
  }

  private HttpRequest.Builder json(String path, JsonNode body) {
    return request(path)
        .header("Content-Type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofByteArray(JsonFields.bytes(body)));
  }

  private HttpRequest.Builder request(String path) {
    HttpRequest.Builder request = HttpRequest.newBuilder(endpoint.base().resolve(path));
    return endpoint.apiKey().isEmpty()
        ? request
        : request.header("Authorization", "Bearer " + endpoint.apiKey());
  }

  /** The failure that a broken exchange means. */
  static CallFailure fault(Throwable broken) {
    String message = broken.getMessage() == null ? broken.toString() : broken.getMessage();
    return switch (broken) {
      case HttpTimeoutException _ ->
          CallFailure.of(CallFailure.Kind.NO_ANSWER, "no answer in time");
      case ConnectException _ ->
          CallFailure.of(CallFailure.Kind.NO_CONNECTION, "cannot connect: " + message);
      default -> CallFailure.of(CallFailure.Kind.NO_CONNECTION, message);
    };
  }

  /** Ends calls in flight. */
  @Override
  public void close() {
    client.shutdownNow();
  }
}
