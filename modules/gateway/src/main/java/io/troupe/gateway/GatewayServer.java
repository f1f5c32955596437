package io.troupe.gateway;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import io.troupe.base.failure.Causes;
import io.troupe.engine.protocol.JsonFields;
import io.troupe.engine.protocol.MalformedResponseException;
import io.troupe.gateway.dialog.MalformedTurnException;
import io.troupe.gateway.dialog.TurnReply;
import io.troupe.gateway.dialog.TurnRequest;
import io.troupe.gateway.wire.AgentDialect;
import io.troupe.gateway.wire.AgentDialect.Refusal;
import io.troupe.gateway.wire.AnthropicMessages;
import io.troupe.gateway.wire.ChatCompletions;
import io.troupe.gateway.wire.OpenAiResponses;
import io.troupe.gateway.wire.ServerEvent;
import io.troupe.net.http.BoundedHttpServer;
import io.troupe.net.http.SameSiteCheck;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The HTTP server of a worker's sessions, on the loopback interface: agents run beside their
 * worker. {@code /e/EPISODE/v1/…} is one episode's, and its key opens it alone.
 *
 * <p>Each request has a virtual thread, so that sessions that are waited for cost heap only.
 */
public final class GatewayServer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(GatewayServer.class);
  private static final int MOST_REQUESTS = 1024;
  private static final int MOST_BODY_BYTES = 64 << 20;
  private static final int CLOSE_SECONDS = 0;
  private static final long KEEP_ALIVE_SECONDS = 15;

  /** A comment without an empty line behind it: some clients read an empty event as JSON. */
  private static final byte[] KEEP_ALIVE = ": keep-alive\n".getBytes(StandardCharsets.UTF_8);

  private static final Pattern PATH = Pattern.compile("/e/([a-z0-9-]+)(?:/v1)?/([a-z_/]+)");
  private static final Map<String, AgentDialect> DIALECTS =
      Map.of(
          "chat/completions", new ChatCompletions(),
          "messages", new AnthropicMessages(),
          "responses", new OpenAiResponses());

  /** A route of Anthropic's, by which agents decide when to compact their conversation. */
  private static final String COUNT = "messages/count_tokens";

  private final BoundedHttpServer http;
  private final SameSiteCheck site;
  private final Map<String, GatewaySession> sessions = new ConcurrentHashMap<>();

  private GatewayServer(BoundedHttpServer http, SameSiteCheck site) {
    this.http = http;
    this.site = site;
  }

  /** Starts to listen on a free port. */
  public static GatewayServer start() throws IOException {
    InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    BoundedHttpServer http =
        BoundedHttpServer.bind(
            address,
            Optional.empty(),
            BoundedHttpServer.Limits.of(MOST_REQUESTS),
            what -> LOG.warn("gateway={} {}", address, what));
    GatewayServer server =
        new GatewayServer(http, new SameSiteCheck(address.getAddress().getHostAddress()));
    http.start(server::handle);
    return server;
  }

  /** Opens a session. */
  public void open(GatewaySession session) {
    sessions.put(session.id(), session);
  }

  /** Forgets a session that has ended. */
  public void forget(GatewaySession session) {
    sessions.remove(session.id(), session);
  }

  /** Where a session is found, without {@code /v1}. */
  public String url(GatewaySession session) {
    return "http://127.0.0.1:%d/e/%s".formatted(http.port(), session.id());
  }

  private void handle(HttpExchange exchange) throws IOException {
    AgentDialect dialect = new ChatCompletions();
    try {
      Matcher path = PATH.matcher(exchange.getRequestURI().getPath());
      if (!path.matches()) {
        throw new RefusedTurnException(404, "not_found", "no route of this name");
      }
      dialect = DIALECTS.getOrDefault(path.group(2).replace(COUNT, "messages"), dialect);
      refuseForeign(exchange.getRequestHeaders());
      GatewaySession session = session(path.group(1), exchange.getRequestHeaders());
      if (path.group(2).equals("models") && exchange.getRequestMethod().equals("GET")) {
        reply(exchange, 200, models());
      } else if (path.group(2).equals(COUNT) && exchange.getRequestMethod().equals("POST")) {
        int tokens = session.count(read(exchange, dialect));
        reply(exchange, 200, JsonFields.object().put("input_tokens", tokens));
      } else if (DIALECTS.containsKey(path.group(2))
          && exchange.getRequestMethod().equals("POST")) {
        answer(exchange, dialect, session);
      } else {
        throw new RefusedTurnException(404, "not_found", "no route of this name");
      }
    } catch (RefusedTurnException refused) {
      refuse(exchange, dialect, refused.refusal());
    } catch (RuntimeException | OutOfMemoryError broken) { // only the log shows it
      LOG.error("path={} failed", exchange.getRequestURI().getPath(), broken);
      if (exchange.getResponseCode() < 0) {
        refuse(exchange, dialect, new Refusal(500, "internal_error", "", Causes.message(broken)));
      }
    } catch (InterruptedException closing) {
      Thread.currentThread().interrupt();
    }
  }

  private void refuseForeign(Headers headers) throws RefusedTurnException {
    Optional<String> foreign =
        site.foreignHost(headers).or(() -> SameSiteCheck.foreignOrigin(headers));
    if (foreign.isPresent()) {
      throw new RefusedTurnException(
          403, "foreign", "this request comes from, or is meant for, another site");
    }
    if (SameSiteCheck.hasOtherBody(headers)) {
      throw new RefusedTurnException(
          415, "media_type", "a body is sent with Content-Type: application/json");
    }
  }

  private GatewaySession session(String id, Headers headers) throws RefusedTurnException {
    GatewaySession session = sessions.get(id);
    if (session == null) {
      throw new RefusedTurnException(
          409, "concluded", "no episode %s is open; it has ended, or never began".formatted(id));
    }
    String bearer = SameSiteCheck.header(headers, "Authorization").replaceFirst("^Bearer +", "");
    String given = bearer.isEmpty() ? SameSiteCheck.header(headers, "x-api-key") : bearer;
    if (!session.isOpenedBy(given)) {
      throw new RefusedTurnException(
          401, "invalid_api_key", "the key is missing, or is another episode's");
    }
    return session;
  }

  private static ObjectNode models() {
    ObjectNode json = JsonFields.object().put("object", "list");
    json.putArray("data").addObject().put("id", "policy").put("object", "model");
    return json;
  }

  private static void answer(HttpExchange exchange, AgentDialect dialect, GatewaySession session)
      throws IOException, InterruptedException, RefusedTurnException {
    TurnRequest request = read(exchange, dialect);
    PendingTurn turn = session.ask(request, proof(exchange.getRequestHeaders()));
    if (request.stream()) {
      stream(exchange, dialect, turn, request);
    } else {
      TurnReply reply = awaited(turn, Long.MAX_VALUE).orElseThrow();
      try {
        reply(exchange, 200, dialect.whole(reply, request));
        turn.delivered();
      } catch (IOException gone) {
        turn.lost();
        throw gone;
      }
    }
  }

  private static TurnRequest read(HttpExchange exchange, AgentDialect dialect)
      throws IOException, RefusedTurnException {
    try {
      return dialect.read(body(exchange));
    } catch (MalformedTurnException malformed) {
      throw new RefusedTurnException(
          new Refusal(400, "invalid_request", malformed.parameter(), Causes.message(malformed)));
    }
  }

  private static GatewaySession.RetryProof proof(Headers headers) {
    String count = SameSiteCheck.header(headers, "x-stainless-retry-count");
    return new GatewaySession.RetryProof(
        !count.isEmpty() && !count.equals("0"), SameSiteCheck.header(headers, "Idempotency-Key"));
  }

  private static void stream(
      HttpExchange exchange, AgentDialect dialect, PendingTurn turn, TurnRequest request)
      throws IOException, InterruptedException, RefusedTurnException {
    Optional<TurnReply> reply = awaited(turn, KEEP_ALIVE_SECONDS); // before a status is sent
    exchange.getResponseHeaders().set("Content-Type", "text/event-stream; charset=utf-8");
    exchange.getResponseHeaders().set("Cache-Control", "no-cache");
    try {
      exchange.sendResponseHeaders(200, 0);
      OutputStream out = exchange.getResponseBody();
      while (reply.isEmpty()) {
        out.write(KEEP_ALIVE);
        out.flush();
        reply = awaited(turn, KEEP_ALIVE_SECONDS);
      }
      StringBuilder text = new StringBuilder();
      for (ServerEvent event : dialect.events(reply.get(), request)) {
        text.append(event.text());
      }
      out.write(text.toString().getBytes(StandardCharsets.UTF_8));
      out.close();
      turn.delivered();
    } catch (IOException gone) {
      turn.lost();
      throw gone;
    } catch (RefusedTurnException failed) {
      byte[] event =
          ServerEvent.failure(dialect.error(failed.refusal())).getBytes(StandardCharsets.UTF_8);
      exchange.getResponseBody().write(event);
    }
  }

  private static Optional<TurnReply> awaited(PendingTurn turn, long seconds)
      throws InterruptedException, RefusedTurnException {
    try {
      return Optional.of(turn.reply().get(seconds, TimeUnit.SECONDS));
    } catch (TimeoutException slow) {
      return Optional.empty();
    } catch (ExecutionException failed) {
      if (Causes.root(failed) instanceof RefusedTurnException refused) {
        throw refused;
      }
      throw new IllegalStateException(failed);
    }
  }

  private static JsonNode body(HttpExchange exchange) throws IOException, RefusedTurnException {
    byte[] bytes = exchange.getRequestBody().readNBytes(MOST_BODY_BYTES + 1);
    if (bytes.length > MOST_BODY_BYTES) {
      throw new RefusedTurnException(
          413, "too_large", "a request may have %d bytes".formatted(MOST_BODY_BYTES));
    }
    try {
      return JsonFields.request(bytes);
    } catch (MalformedResponseException malformed) {
      throw new RefusedTurnException(
          400, "invalid_request", "the body is " + malformed.getMessage());
    }
  }

  private static void reply(HttpExchange exchange, int status, JsonNode json) throws IOException {
    byte[] bytes = JsonFields.bytes(json);
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    exchange.sendResponseHeaders(status, bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.getResponseBody().close();
  }

  private static void refuse(HttpExchange exchange, AgentDialect dialect, Refusal refusal)
      throws IOException {
    exchange.getResponseHeaders().set("Connection", "close"); // unread bytes of a body may be left
    reply(exchange, refusal.status(), dialect.error(refusal));
  }

  /** Ends all requests and stops to listen. */
  @Override
  public void close() {
    http.close(CLOSE_SECONDS);
  }
}
