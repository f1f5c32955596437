package io.troupe.serve;

import com.fasterxml.jackson.databind.JsonNode;
import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import io.troupe.engine.protocol.JsonFields;
import io.troupe.engine.protocol.MalformedResponseException;
import io.troupe.engine.protocol.WeightTag;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.gateway.RefusedTurnException;
import io.troupe.gateway.TurnExchange;
import io.troupe.gateway.wire.AgentDialect;
import io.troupe.gateway.wire.ChatCompletions;
import io.troupe.net.http.BoundedHttpServer;
import io.troupe.net.http.RetryHeaders;
import io.troupe.net.http.SameSiteCheck;
import io.troupe.serve.model.AdapterCapacity;
import io.troupe.serve.model.HttpErrorException;
import io.troupe.serve.model.ServedAdapters;
import io.troupe.serve.model.ServedModel;
import io.troupe.serve.model.ServedWeights;
import java.io.IOException;
import java.net.BindException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Optional;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves one policy over HTTP/1.1: the routes of OpenAI's interface with vLLM's token ids, and the
 * routes that update weights. docs/sidecars.md lists them.
 *
 * <p>Each request has a virtual thread. {@link ServeSettings#maxRequests} bounds the requests: one
 * more is answered 429 before its body is read. {@link BoundedHttpServer} bounds connections and
 * slow clients. The server closes the engines of adapters, which it made; it does not close the
 * policy's engine.
 */
public final class PolicyServer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(PolicyServer.class);
  private static final int CLOSE_SECONDS = 1;
  private static final String BEARER = "Bearer ";
  private static final String V1 = "/v1/";

  private final ServeSettings settings;
  private final BoundedHttpServer http;
  private final SameSiteCheck site;
  private final ServerCounters counters = ServerCounters.zero();
  private final ServedWeights weights;
  private final ServedAdapters adapters;
  private final CompletionsRoute completions;
  private final AgentRoute agents;
  private final ControlRoutes control;

  private PolicyServer(
      ServedModel served,
      AdapterCapacity room,
      ServeSettings settings,
      BoundedHttpServer http,
      String version) {
    this.settings = settings;
    this.site = new SameSiteCheck(settings.address().getHostString());
    this.http = http;
    this.adapters = new ServedAdapters(room);
    this.weights =
        new ServedWeights(
            served.engine(), served.scorer(), adapters.offered(), settings.awaitsWeights());
    RequestTable table =
        new RequestTable(
            () -> Stream.concat(Stream.of(served.engine()), adapters.engines().stream()).toList());
    ServedTurns turns = new ServedTurns(served);
    this.completions =
        new CompletionsRoute(served, settings, weights, adapters, turns, table, counters);
    this.agents = new AgentRoute(served, adapters, turns, table, counters);
    this.control =
        new ControlRoutes(served, weights, adapters, table, counters, version, System.nanoTime());
  }

  /** Starts to listen; no adapter can be loaded. */
  public static PolicyServer start(ServedModel served, ServeSettings settings, String version)
      throws IOException {
    return start(served, AdapterCapacity.none(), settings, version);
  }

  /**
   * Starts to listen.
   *
   * @param version the version of the program, for {@code /version}
   * @throws IOException if the address is taken; the message names the address
   */
  public static PolicyServer start(
      ServedModel served, AdapterCapacity room, ServeSettings settings, String version)
      throws IOException {
    BoundedHttpServer http;
    try {
      http =
          BoundedHttpServer.bind(
              settings.address(),
              Optional.empty(),
              settings.limits(),
              what -> LOG.warn("server={} {}", settings.address(), what));
    } catch (BindException taken) {
      throw new IOException(
          "%s:%d cannot be listened on (%s); choose another with --port, or 0 for any"
              .formatted(
                  settings.address().getHostString(),
                  settings.address().getPort(),
                  taken.getMessage()),
          taken);
    }
    PolicyServer server = new PolicyServer(served, room, settings, http, version);
    http.start(server::handle);
    return server;
  }

  /** The port on which the server listens. */
  public int port() {
    return http.port();
  }

  /** Moves the engine to weights in memory, under their own tag. */
  public void use(WeightSnapshot snapshot) throws IOException {
    use(snapshot, WeightTag.of(snapshot.version(), snapshot.digest()).toString());
  }

  /** Moves the engine to weights in memory that are no version of a run, under the given name. */
  public void use(WeightSnapshot snapshot, String name) throws IOException {
    String _ = weights.use(snapshot, name);
  }

  private void handle(HttpExchange exchange) throws IOException {
    try {
      authorise(exchange);
      refuseForeign(exchange);
      route(exchange, new HttpReply(exchange));
    } catch (HttpErrorException refusal) {
      refuse(exchange, refusal);
    } catch (RefusedTurnException refused) {
      refuse(exchange, refused.refusal());
    } catch (RuntimeException | OutOfMemoryError broken) { // only the log shows it
      LOG.error("path={} failed", exchange.getRequestURI().getPath(), broken);
      if (exchange.getResponseCode() < 0) {
        refuse(exchange, HttpErrorException.of(500, "InternalServerError", broken.toString()));
      }
    } catch (InterruptedException closing) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Refuses requests of foreign web pages: a page in a browser of this machine must neither command
   * the server nor read from it. Such a page knows no key, so the host name is checked only where
   * no key is set.
   */
  private void refuseForeign(HttpExchange exchange) throws HttpErrorException {
    Headers headers = exchange.getRequestHeaders();
    Optional<String> host =
        settings.keys().all().isEmpty() ? site.foreignHost(headers) : Optional.empty();
    if (host.isPresent()) {
      throw HttpErrorException.of(
          421,
          "MisdirectedRequest",
          "this server does not answer to the name '%s'; use 127.0.0.1, or start it with"
                  .formatted(JsonFields.excerpt(host.get()))
              + " --api-key-file");
    }
    Optional<String> origin = SameSiteCheck.foreignOrigin(headers);
    if (origin.isPresent()) {
      throw HttpErrorException.of(
          403,
          "PermissionDeniedError",
          "this request comes from another site: " + JsonFields.excerpt(origin.get()));
    }
    if (SameSiteCheck.hasOtherBody(headers)) {
      throw HttpErrorException.of(
          415, "UnsupportedMediaType", "a body is sent with Content-Type: application/json");
    }
  }

  /** Clients of OpenAI's older routes expect vLLM's error object. */
  private void refuse(HttpExchange exchange, HttpErrorException refusal) throws IOException {
    boolean agents =
        dialect(exchange).filter(spoken -> !(spoken instanceof ChatCompletions)).isPresent();
    if (agents) {
      refuse(exchange, refusal.refusal());
    } else {
      refuse(exchange, refusal.status(), refusal.json());
    }
  }

  private void refuse(HttpExchange exchange, AgentDialect.Refusal refusal) throws IOException {
    AgentDialect spoken = dialect(exchange).orElseGet(ChatCompletions::new);
    refuse(exchange, refusal.status(), spoken.error(refusal));
  }

  private void refuse(HttpExchange exchange, int status, JsonNode error) throws IOException {
    count(status);
    readOn(exchange);
    RetryHeaders.set(exchange.getResponseHeaders(), status);
    new HttpReply(exchange).json(status, error);
  }

  private void count(int status) {
    if (status == 429) {
      counters.rejected().incrementAndGet();
    } else if (status >= 500) {
      counters.failed().incrementAndGet();
    } else {
      counters.refused().incrementAndGet();
    }
  }

  /**
   * Reads what the client of a refused request still sends. With unread data the server would close
   * the connection without notice: the client might lose the refusal, and its next request on the
   * connection would fail.
   */
  private void readOn(HttpExchange exchange) throws IOException {
    byte[] dropped = new byte[8 << 10];
    int got = 0;
    for (long left = settings.maxBodyBytes(); left > 0; left -= got) {
      got = exchange.getRequestBody().read(dropped);
      if (got < 0) {
        return;
      }
    }
    exchange.getResponseHeaders().set("Connection", "close");
  }

  private void authorise(HttpExchange exchange) throws HttpErrorException {
    String path = exchange.getRequestURI().getPath();
    ServeSettings.Keys keys = settings.keys();
    boolean open = keys.all().isEmpty() || path.equals("/health") || path.equals("/ping");
    String bearer = SameSiteCheck.header(exchange.getRequestHeaders(), "Authorization");
    String given =
        bearer.isEmpty()
            ? SameSiteCheck.header(exchange.getRequestHeaders(), "x-api-key")
            : bearer.startsWith(BEARER) ? bearer.substring(BEARER.length()) : "";
    if (open || same(keys.all(), given)) {
      return;
    }
    if (keys.sampling().isEmpty() || !same(keys.sampling(), given)) {
      throw HttpErrorException.of(401, "AuthenticationError", "the API key is missing or wrong");
    }
    if (ControlRoutes.commands(path)) {
      throw HttpErrorException.of(
          403,
          "PermissionDeniedError",
          "%s takes the key of --api-key-file, and this one samples only".formatted(path));
    }
  }

  private static boolean same(String expected, String given) {
    return MessageDigest.isEqual(
        expected.getBytes(StandardCharsets.UTF_8), given.getBytes(StandardCharsets.UTF_8));
  }

  private static Optional<AgentDialect> dialect(HttpExchange exchange) {
    String path = exchange.getRequestURI().getPath();
    return path.startsWith(V1)
        ? AgentDialect.ofRoute(path.substring(V1.length()))
        : Optional.empty();
  }

  private void route(HttpExchange exchange, HttpReply reply)
      throws IOException, InterruptedException, HttpErrorException, RefusedTurnException {
    String path = exchange.getRequestURI().getPath();
    boolean post = exchange.getRequestMethod().equals("POST");
    Optional<AgentDialect> dialect = dialect(exchange);
    if (post && (dialect.isPresent() || path.equals("/v1/completions"))) {
      admit();
      try {
        sample(exchange, reply, dialect);
      } finally {
        counters.running().decrementAndGet();
      }
    } else if (!control.answer(
        reply, exchange.getRequestMethod(), path, query(exchange), () -> body(exchange))) {
      throw HttpErrorException.of(
          404, "NotFoundError", "no route %s %s".formatted(exchange.getRequestMethod(), path));
    }
  }

  private void sample(HttpExchange exchange, HttpReply reply, Optional<AgentDialect> dialect)
      throws IOException, InterruptedException, HttpErrorException, RefusedTurnException {
    if (weights.current().isEmpty()) { // checked before the body is read, too
      throw HttpErrorException.of(503, "ServiceUnavailable", "no weights were loaded yet");
    }
    JsonNode body = body(exchange);
    if (dialect.isEmpty()) {
      completions.complete(reply, body);
      return;
    }
    TurnExchange turn = new TurnExchange(exchange, dialect.get());
    if (dialect.get() instanceof ChatCompletions && !AgentRoute.takes(body)) {
      completions.chat(reply, turn, body);
    } else if (AgentDialect.counts(exchange.getRequestURI().getPath().substring(V1.length()))) {
      agents.count(turn, body);
    } else {
      agents.answer(turn, body);
    }
  }

  private void admit() throws HttpErrorException {
    if (counters.running().incrementAndGet() > settings.maxRequests()) {
      counters.running().decrementAndGet();
      throw HttpErrorException.of(
          429,
          "TooManyRequests",
          "%d requests are being answered, the most at a time; come back later"
              .formatted(settings.maxRequests()));
    }
  }

  private static String query(HttpExchange exchange) {
    return Optional.ofNullable(exchange.getRequestURI().getQuery()).orElse("");
  }

  private JsonNode body(HttpExchange exchange) throws IOException, HttpErrorException {
    byte[] bytes = exchange.getRequestBody().readNBytes(settings.maxBodyBytes() + 1);
    if (bytes.length > settings.maxBodyBytes()) {
      throw HttpErrorException.of(
          413, "RequestTooLarge", "a request may have %d bytes".formatted(settings.maxBodyBytes()));
    }
    if (bytes.length == 0) {
      return JsonFields.object();
    }
    try {
      return JsonFields.request(bytes);
    } catch (MalformedResponseException malformed) {
      throw HttpErrorException.of(400, "BadRequestError", "the body is " + malformed.getMessage());
    }
  }

  /** Ends the requests in flight and stops listening. */
  @Override
  public void close() {
    completions.close();
    http.close(CLOSE_SECONDS);
    adapters.close();
  }
}
