package io.troupe.engine.http.serve;

import com.fasterxml.jackson.databind.JsonNode;
import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.WeightSnapshot;
import io.troupe.engine.http.protocol.Fields;
import io.troupe.engine.http.protocol.MalformedAnswerException;
import io.troupe.engine.http.protocol.WeightTag;
import io.troupe.engine.net.BoundedServer;
import io.troupe.engine.net.SameSite;
import java.io.IOException;
import java.net.BindException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Optional;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves one policy over HTTP/1.1: the routes of OpenAI's interface with vLLM's token ids, and
 * those that move weights. docs/sidecars.md lists them.
 *
 * <p>Each request has a virtual thread. What bounds them is {@link ServeSettings#maxRequests}: one
 * more is answered 429 before its body is read. Connections and slow clients are bounded by {@link
 * BoundedServer}. The engine is not closed with the server; those of adapters, which it made, are.
 */
public final class PolicyServer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(PolicyServer.class);
  private static final int CLOSE_SECONDS = 1;
  private static final String RETRY_SECONDS = "1";

  private final ServeSettings settings;
  private final BoundedServer http;
  private final SameSite site;
  private final Counters counters = Counters.zero();
  private final ServedWeights weights;
  private final ServedAdapters adapters;
  private final CompletionsRoute completions;
  private final ControlRoutes control;

  private PolicyServer(
      Served served, AdapterRoom room, ServeSettings settings, BoundedServer http, String version) {
    this.settings = settings;
    this.site = new SameSite(settings.address().getHostString());
    this.http = http;
    this.adapters = new ServedAdapters(room);
    this.weights =
        new ServedWeights(
            served.engine(), served.scorer(), adapters.offered(), settings.awaitsWeights());
    Desk desk =
        new Desk(
            () -> Stream.concat(Stream.of(served.engine()), adapters.engines().stream()).toList());
    this.completions = new CompletionsRoute(served, settings, weights, adapters, desk, counters);
    this.control =
        new ControlRoutes(served, weights, adapters, desk, counters, version, System.nanoTime());
  }

  /** Starts to listen, without room for adapters. */
  public static PolicyServer start(Served served, ServeSettings settings, String version)
      throws IOException {
    return start(served, AdapterRoom.none(), settings, version);
  }

  /**
   * Starts to listen.
   *
   * @param version of the program, for {@code /version}
   * @throws IOException if the address is taken; says which
   */
  public static PolicyServer start(
      Served served, AdapterRoom room, ServeSettings settings, String version) throws IOException {
    BoundedServer http;
    try {
      http =
          BoundedServer.bind(
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

  /** Where it listens. */
  public int port() {
    return http.port();
  }

  /** Moves to weights that are in memory, under their own tag. */
  public void use(WeightSnapshot snapshot) throws IOException {
    use(snapshot, WeightTag.of(snapshot.version(), snapshot.digest()).toString());
  }

  /** The same under another name, of weights that are no version of a run. */
  public void use(WeightSnapshot snapshot, String name) throws IOException {
    String _ = weights.use(snapshot, name);
  }

  /** The weights in use; none before the first. */
  public Optional<WeightVersion> weights() {
    return weights.current();
  }

  private void handle(HttpExchange exchange) throws IOException {
    Reply reply = new Reply(exchange);
    try {
      authorise(exchange);
      refuseForeign(exchange);
      route(exchange, reply);
    } catch (Refusal refusal) {
      refuse(exchange, reply, refusal);
    } catch (RuntimeException | OutOfMemoryError broken) { // or nobody would hear of it
      LOG.error("path={} failed", exchange.getRequestURI().getPath(), broken);
      if (exchange.getResponseCode() < 0) {
        refuse(exchange, reply, Refusal.of(500, "InternalServerError", broken.toString()));
      }
    } catch (InterruptedException closing) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * A page in a browser of this machine commands nothing here, and reads nothing: it knows no key,
   * so a name is only asked for where there is none.
   */
  private void refuseForeign(HttpExchange exchange) throws Refusal {
    Headers headers = exchange.getRequestHeaders();
    Optional<String> host =
        settings.apiKey().isEmpty() ? site.foreignHost(headers) : Optional.empty();
    if (host.isPresent()) {
      throw Refusal.of(
          421,
          "MisdirectedRequest",
          "this server does not answer to the name '%s'; use 127.0.0.1, or start it with"
                  .formatted(Fields.excerpt(host.get()))
              + " --api-key-file");
    }
    Optional<String> origin = SameSite.foreignOrigin(headers);
    if (origin.isPresent()) {
      throw Refusal.of(
          403,
          "PermissionDeniedError",
          "this request comes from another site: " + Fields.excerpt(origin.get()));
    }
    if (SameSite.hasOtherBody(headers)) {
      throw Refusal.of(
          415, "UnsupportedMediaType", "a body is sent with Content-Type: application/json");
    }
  }

  private void refuse(HttpExchange exchange, Reply reply, Refusal refusal) throws IOException {
    count(refusal.status());
    readOn(exchange);
    if (refusal.status() == 429 || refusal.status() == 503) {
      exchange.getResponseHeaders().set("Retry-After", RETRY_SECONDS);
    }
    reply.json(refusal.status(), refusal.json());
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
   * Reads what a refused request still sends. With anything unread the server would end the
   * connection, unannounced: the refusal may be lost, and the client's next request on it fails.
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

  private void authorise(HttpExchange exchange) throws Refusal {
    String path = exchange.getRequestURI().getPath();
    boolean open = settings.apiKey().isEmpty() || path.equals("/health") || path.equals("/ping");
    String given =
        Optional.ofNullable(exchange.getRequestHeaders().getFirst("Authorization")).orElse("");
    byte[] expected = ("Bearer " + settings.apiKey()).getBytes(StandardCharsets.UTF_8);
    if (!open && !MessageDigest.isEqual(expected, given.getBytes(StandardCharsets.UTF_8))) {
      throw Refusal.of(401, "AuthenticationError", "the API key is missing or wrong");
    }
  }

  private void route(HttpExchange exchange, Reply reply)
      throws IOException, InterruptedException, Refusal {
    String path = exchange.getRequestURI().getPath();
    boolean post = exchange.getRequestMethod().equals("POST");
    boolean chat = path.equals("/v1/chat/completions");
    if (post && (chat || path.equals("/v1/completions"))) {
      completions.answer(reply, () -> body(exchange), chat);
    } else if (!control.answer(
        reply, exchange.getRequestMethod(), path, query(exchange), () -> body(exchange))) {
      throw Refusal.of(
          404, "NotFoundError", "no route %s %s".formatted(exchange.getRequestMethod(), path));
    }
  }

  private static String query(HttpExchange exchange) {
    return Optional.ofNullable(exchange.getRequestURI().getQuery()).orElse("");
  }

  private JsonNode body(HttpExchange exchange) throws IOException, Refusal {
    byte[] bytes = exchange.getRequestBody().readNBytes(settings.maxBodyBytes() + 1);
    if (bytes.length > settings.maxBodyBytes()) {
      throw Refusal.of(
          413, "RequestTooLarge", "a request may have %d bytes".formatted(settings.maxBodyBytes()));
    }
    if (bytes.length == 0) {
      return Fields.object();
    }
    try {
      return Fields.request(bytes);
    } catch (MalformedAnswerException malformed) {
      throw Refusal.of(400, "BadRequestError", "the body is " + malformed.getMessage());
    }
  }

  /** Ends requests in flight, and stops listening. */
  @Override
  public void close() {
    completions.close();
    http.close(CLOSE_SECONDS);
    adapters.close();
  }
}
