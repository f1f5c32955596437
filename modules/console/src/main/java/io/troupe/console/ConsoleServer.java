package io.troupe.console;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpsConfigurator;
import io.troupe.console.chat.ChatRoute;
import io.troupe.console.http.ApiException;
import io.troupe.console.http.ConsoleJson;
import io.troupe.console.source.RunSource;
import io.troupe.core.run.Attribution;
import io.troupe.core.run.OperatorCommand;
import io.troupe.net.http.BoundedHttpServer;
import io.troupe.telemetry.export.PrometheusText;
import io.troupe.telemetry.view.RunView;
import java.io.IOException;
import java.io.OutputStream;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** The console's HTTP server: the page, the API, the event stream, metrics and health. */
public final class ConsoleServer implements AutoCloseable {
  /*
   * The JDK's own server on virtual threads: docs/decisions/0020-console-on-the-jdks-server.md. A
   * request is read and answered by straight code; a stream costs a parked thread.
   */

  private static final int PORTS_TRIED = 20;
  private static final int MAX_BODY_BYTES = 64 << 10;
  private static final long MOST_DROPPED_BYTES = 4 << 20;
  private static final int MAX_STREAMS = 64;
  private static final int MAX_REQUESTS = 256;
  private static final Duration JVM_PATIENCE = Duration.ofSeconds(20);
  private static final long MAX_SAMPLING_SECONDS = 60;
  private static final String API = "/api/v1";

  private static final Map<String, String> SAFETY =
      Map.of(
          "Content-Security-Policy",
          "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
              + " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
          "X-Content-Type-Options",
          "nosniff",
          "X-Frame-Options",
          "DENY",
          "Referrer-Policy",
          "no-referrer",
          "Cross-Origin-Opener-Policy",
          "same-origin",
          "Cross-Origin-Resource-Policy",
          "same-origin",
          "Cache-Control",
          "no-store");

  private final ConsoleSettings settings;
  private final RunSource source;
  private final RequestGuard gate;
  private final Api api;
  private final ChatRoute chat;
  private final OperatorCommandRoute orders;
  private final BoundedHttpServer server;
  private final AtomicInteger streams = new AtomicInteger();

  private ConsoleServer(ConsoleSettings settings, RunSource source, Consumer<String> say)
      throws IOException {
    this.settings = settings;
    this.source = source;
    this.gate = new RequestGuard(settings);
    this.chat = new ChatRoute(source.chat(), settings.hideText());
    this.orders = new OperatorCommandRoute(source);
    this.api = new Api(source, settings.hideText(), System::currentTimeMillis);
    this.server = bind(settings, say);
  }

  /**
   * Opens a console.
   *
   * @throws IOException if neither the port nor one of the next twenty is free; says which
   */
  public static ConsoleServer start(ConsoleSettings settings, RunSource source) throws IOException {
    return start(settings, source, _ -> {});
  }

  /**
   * Starts a console on a run.
   *
   * @param say hears when it has no room for requests, and of peers that are too slow
   */
  public static ConsoleServer start(
      ConsoleSettings settings, RunSource source, Consumer<String> say) throws IOException {
    ConsoleServer console = new ConsoleServer(settings, source, say);
    console.server.start(console::handle);
    return console;
  }

  private static BoundedHttpServer bind(ConsoleSettings settings, Consumer<String> say)
      throws IOException {
    int last = settings.port() == 0 ? 0 : Math.min(65_535, settings.port() + PORTS_TRIED);
    for (int port = settings.port(); port <= last; port++) {
      try {
        InetSocketAddress address = new InetSocketAddress(settings.address(), port);
        return BoundedHttpServer.bind(
            address,
            settings.tls().map(tls -> new HttpsConfigurator(tls.context())),
            BoundedHttpServer.Limits.of(MAX_REQUESTS),
            say);
      } catch (BindException taken) {
        // The next one may be free.
      }
    }
    throw new IOException(
        "the console found no free port in %d to %d on %s; set console.port, or console.enabled:"
                .formatted(settings.port(), last, settings.host())
            + " false");
  }

  /** Returns the address of the console, without a token. */
  public URI address() {
    return URI.create(
        "%s://%s:%d"
            .formatted(
                settings.tls().isEmpty() ? "http" : "https", settings.host(), server.port()));
  }

  /** The link for a person: with the operator's token where one is needed. */
  public String link() {
    return settings.tokenRequired()
        ? address() + "/#token=" + settings.tokens().operator()
        : address().toString();
  }

  /** Ends it once the orders that were taken are answered; readers are cut off. */
  @Override
  public void close() {
    orders.close();
    server.close();
  }

  private void handle(HttpExchange exchange) throws IOException {
    try {
      SAFETY.forEach(exchange.getResponseHeaders()::set);
      gate.admit(exchange);
      route(exchange);
    } catch (ApiException refusal) {
      readOn(exchange);
      json(exchange, refusal.status(), Map.of("error", refusal.sentence()));
    } catch (InterruptedException stopping) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Reads what a refused request still sends. With anything unread the server would end the
   * connection, unannounced, and the client's next request on it would fail.
   */
  private static void readOn(HttpExchange exchange) throws IOException {
    byte[] dropped = new byte[8 << 10];
    int got = 0;
    for (long left = MOST_DROPPED_BYTES; left > 0; left -= got) {
      got = exchange.getRequestBody().read(dropped);
      if (got < 0) {
        return;
      }
    }
    exchange.getResponseHeaders().set("Connection", "close");
  }

  private void route(HttpExchange exchange) throws ApiException, IOException, InterruptedException {
    String path = exchange.getRequestURI().getPath();
    boolean read = exchange.getRequestMethod().equals("GET");
    switch (path) {
      case "/alive" -> text(exchange, 200, "text/plain; charset=utf-8", "alive\n");
      case "/ready" -> ready(exchange);
      case "/metrics" -> {
        gate.role(exchange);
        text(exchange, 200, PrometheusText.MEDIA_TYPE, api.prometheus());
      }
      case API + "/openapi.json" -> asset(exchange, "/openapi.json");
      case API + "/orders" -> order(exchange);
      case API + "/chat" -> {
        if (read) {
          gate.role(exchange);
          json(exchange, 200, chat.offer());
        } else {
          chat(exchange);
        }
      }
      case API + "/stream" -> stream(exchange);
      case API + "/threads" -> {
        gate.operator(exchange, "thread dumps are");
        text(
            exchange,
            200,
            "text/plain; charset=utf-8",
            ProcessReplies.on(
                source.jvms().threads(query(exchange).text("jvm", "")), JVM_PATIENCE));
      }
      case API + "/flame" -> {
        gate.operator(exchange, "flame graphs are");
        gate.ownPage(exchange, "sampling stacks"); // a page's <img> could begin it
        flame(exchange);
      }
      default -> {
        if (!read) {
          throw new ApiException(
              405, "only %s/orders and %s/chat are more than read".formatted(API, API));
        }
        if (path.startsWith(API + "/")) {
          gate.role(exchange);
          json(exchange, 200, api.answer(path.substring(API.length()), query(exchange)));
        } else {
          asset(exchange, path);
        }
      }
    }
  }

  private static QueryString query(HttpExchange exchange) throws ApiException {
    return QueryString.of(Optional.ofNullable(exchange.getRequestURI().getRawQuery()).orElse(""));
  }

  private void flame(HttpExchange exchange) throws ApiException, IOException {
    long seconds = query(exchange).number("seconds", 5);
    if (seconds < 1 || seconds > MAX_SAMPLING_SECONDS) {
      throw new ApiException(
          400, "seconds must be 1 to %d, not %d".formatted(MAX_SAMPLING_SECONDS, seconds));
    }
    Duration time = Duration.ofSeconds(seconds);
    json(
        exchange,
        200,
        ProcessReplies.on(
            source.jvms().flame(query(exchange).text("jvm", ""), time), JVM_PATIENCE.plus(time)));
  }

  private void ready(HttpExchange exchange) throws IOException {
    RunView run = api.run();
    boolean running = run.phase().equals("running");
    boolean ready = running && !run.standstill();
    StringBuilder said = new StringBuilder();
    if (ready) {
      said.append("ready\n");
    } else {
      said.append(running ? "nothing can be sampled and judged" : "the run is " + run.phase());
      said.append('\n');
    }
    for (RunView.Trouble trouble : run.troubles()) {
      said.append(
          "%s %s, since %s\n" // Anybody may ask, and reasons may hold what a policy wrote.
              .formatted(
                  trouble.who(),
                  trouble.what(),
                  Instant.ofEpochMilli(trouble.since()).truncatedTo(ChronoUnit.SECONDS)));
    }
    text(exchange, ready ? 200 : 503, "text/plain; charset=utf-8", said.toString());
  }

  private void order(HttpExchange exchange) throws ApiException, IOException, InterruptedException {
    if (!exchange.getRequestMethod().equals("POST")) {
      exchange.getResponseHeaders().set("Allow", "POST");
      throw new ApiException(405, "an order is sent by POST: reading changes nothing");
    }
    gate.admitChange(exchange);
    JsonNode body = body(exchange, "an order");
    OperatorCommand verb = OperatorCommandReader.verb(body);
    Attribution order = OperatorCommandReader.order(body, gate.role(exchange));
    orders.take(
        verb,
        order,
        () ->
            json(
                exchange, 200, Map.of("taken", verb.getClass().getSimpleName(), "by", order.by())));
  }

  /** A question costs the run's machine some work, so it is for those who may act. */
  private void chat(HttpExchange exchange) throws ApiException, IOException, InterruptedException {
    if (!exchange.getRequestMethod().equals("POST")) {
      exchange.getResponseHeaders().set("Allow", "GET, POST");
      throw new ApiException(405, "a question is sent by POST");
    }
    gate.admitChange(exchange);
    chat.answer(exchange, chat.read(body(exchange, "a question")));
  }

  private static JsonNode body(HttpExchange exchange, String what)
      throws ApiException, IOException {
    byte[] bytes = exchange.getRequestBody().readNBytes(MAX_BODY_BYTES + 1);
    if (bytes.length > MAX_BODY_BYTES) {
      throw new ApiException(413, "%s has at most %d bytes".formatted(what, MAX_BODY_BYTES));
    }
    try {
      JsonNode body = ConsoleJson.MAPPER.readTree(bytes);
      if (body == null || !body.isObject()) {
        throw new ApiException(400, what + " is a JSON object");
      }
      return body;
    } catch (JsonProcessingException malformed) {
      throw new ApiException(400, what + " is JSON: " + malformed.getOriginalMessage());
    }
  }

  private void stream(HttpExchange exchange)
      throws ApiException, IOException, InterruptedException {
    gate.role(exchange);
    if (streams.incrementAndGet() > MAX_STREAMS) {
      streams.decrementAndGet();
      throw new ApiException(503, "%d streams are open already; close one".formatted(MAX_STREAMS));
    }
    try {
      exchange.getResponseHeaders().set("Content-Type", "text/event-stream; charset=utf-8");
      exchange.sendResponseHeaders(200, 0);
      new EventStream(source, api, RequestGuard.header(exchange, "Last-Event-ID"))
          .write(exchange.getResponseBody());
    } catch (IOException gone) {
      // The reader went away, which is how streams end.
    } finally {
      streams.decrementAndGet();
    }
  }

  private static void asset(HttpExchange exchange, String path) throws ApiException, IOException {
    PageAssets.Asset asset = PageAssets.asset(path);
    send(exchange, 200, asset.type(), asset.bytes());
  }

  private static void json(HttpExchange exchange, int status, Object value) throws IOException {
    send(exchange, status, "application/json", ConsoleJson.bytes(value));
  }

  private static void text(HttpExchange exchange, int status, String type, String text)
      throws IOException {
    send(exchange, status, type, text.getBytes(StandardCharsets.UTF_8));
  }

  private static void send(HttpExchange exchange, int status, String type, byte[] bytes)
      throws IOException {
    Headers headers = exchange.getResponseHeaders();
    headers.set("Content-Type", type);
    exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
    try (OutputStream out = exchange.getResponseBody()) {
      out.write(bytes);
    }
  }
}
