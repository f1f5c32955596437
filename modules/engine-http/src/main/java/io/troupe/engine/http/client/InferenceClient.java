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
 * HTTP/1.1 to one server, and never the upgrade to HTTP/2: uvicorn drops the body of a request that
 * offers it. Idle connections are dropped after 3 s, before the 5 s after which uvicorn closes them
 * under a request that is just being written. No redirect, no proxy.
 *
 * <p>Answers are read on the client's own thread, and draws end on it: what is attached to them
 * must not block.
 */
public final class InferenceClient implements AutoCloseable {
  private static final String KEEP_ALIVE = "jdk.httpclient.keepalive.timeout";
  private static final String KEEP_ALIVE_SECONDS = "3";

  /** Most bytes of an answer of which nothing else is known. */
  private static final int MOST_BYTES = 10 << 20;

  static {
    if (System.getProperty(KEEP_ALIVE) == null) {
      System.setProperty(KEEP_ALIVE, KEEP_ALIVE_SECONDS);
    }
  }

  /**
   * An answer of whatever status.
   *
   * @param retryAfter the header, or empty
   */
  public record Response(int status, String body, String retryAfter) {
    public boolean ok() {
      return status == 200;
    }

    /** The body as JSON; an empty object where it is none. */
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
            .executor(Runnable::run) // what is done with an answer is short, and a thread is not
            .connectTimeout(endpoint.patience().connect())
            .build();
  }

  public InferenceEndpoint endpoint() {
    return endpoint;
  }

  /**
   * Asks for a route, and waits.
   *
   * @param timeout for all of the answer
   * @throws InferenceCallException if no whole answer came
   */
  public Response get(String path, Duration timeout) throws InterruptedException {
    return send(request(path).GET().build(), timeout, MOST_BYTES);
  }

  /** Sends JSON, and waits. */
  public Response post(String path, JsonNode body, Duration timeout) throws InterruptedException {
    return post(path, body, timeout, MOST_BYTES);
  }

  /**
   * The same of an answer whose size is known better.
   *
   * @param mostBytes of an answer with status 200; a longer one fails
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

  /** Starts a streamed draw, the first for its completions. */
  public StreamingCall draw(
      Dialect dialect,
      GenerateRequest draw,
      BooleanSupplier paused,
      ScheduledExecutorService clock) {
    return draw(dialect, draw, System.nanoTime(), paused, () -> false, clock);
  }

  /**
   * Starts a streamed draw.
   *
   * @param sinceNanos when its completions were first asked for
   * @param queueing whether requests wait at the server while it draws for others
   */
  public StreamingCall draw(
      Dialect dialect,
      GenerateRequest draw,
      long sinceNanos,
      BooleanSupplier paused,
      BooleanSupplier queueing,
      ScheduledExecutorService clock) {
    HttpRequest request =
        json(dialect.codec().path(), dialect.codec().body(draw, true))
            .header("X-Request-Id", draw.id())
            .build();
    StreamingCall call =
        new StreamingCall(endpoint, dialect, draw.completions(), sinceNanos, paused, queueing);
    call.start(client, request, clock);
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

  /** What a broken exchange means. */
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
