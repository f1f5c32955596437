package io.troupe.gateway;

import com.fasterxml.jackson.databind.JsonNode;
import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpsConfigurator;
import io.troupe.base.failure.Causes;
import io.troupe.engine.protocol.JsonFields;
import io.troupe.engine.protocol.MalformedResponseException;
import io.troupe.gateway.dialog.TurnRequest;
import io.troupe.gateway.fields.RequestReader;
import io.troupe.gateway.wire.AgentDialect;
import io.troupe.gateway.wire.AgentDialect.Refusal;
import io.troupe.gateway.wire.ChatCompletions;
import io.troupe.net.http.BoundedHttpServer;
import io.troupe.net.http.RetryHeaders;
import io.troupe.net.http.SameSiteCheck;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The HTTP server of a worker's sessions: on the loopback interface, where agents run beside their
 * worker, or at an address for agents of any host. {@code /e/EPISODE/v1/…} is one episode's, and
 * its key opens it alone.
 *
 * <p>Each request has a virtual thread, so that sessions that are waited for cost heap only.
 */
public final class GatewayServer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(GatewayServer.class);
  private static final int MOST_REQUESTS = 1024;
  private static final int MOST_BODY_BYTES = 64 << 20;
  private static final int CLOSE_SECONDS = 0;

  private static final String TASKS = "/tasks/";
  private static final Pattern PATH = Pattern.compile("/e/([a-z0-9-]+)(?:/v1)*(?:/(.*))?");
  private static final Set<String> READS = Set.of("GET", "HEAD");

  /**
   * Answers requests outside of sessions.
   *
   * @see #handle
   */
  public interface TaskRoute {
    /** A route for agents that only have a session. */
    static TaskRoute none() {
      return (_, _) -> {
        throw noRoute();
      };
    }

    /**
     * Answers a request.
     *
     * @param path behind {@code /tasks/}
     * @throws RefusedTurnException if it is not answered
     */
    void answer(HttpExchange exchange, String path)
        throws IOException, InterruptedException, RefusedTurnException;
  }

  private final BoundedHttpServer http;
  private final Optional<SameSiteCheck> site;
  private final TaskRoute tasks;
  private final Map<String, GatewaySession> sessions = new ConcurrentHashMap<>();

  private GatewayServer(BoundedHttpServer http, Optional<SameSiteCheck> site, TaskRoute tasks) {
    this.http = http;
    this.site = site;
    this.tasks = tasks;
  }

  /** Starts to listen on a free port of the loopback interface. */
  public static GatewayServer start() throws IOException {
    InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    SameSiteCheck site = new SameSiteCheck(address.getAddress().getHostAddress());
    return start(address, Optional.empty(), Optional.of(site), TaskRoute.none());
  }

  /**
   * Starts to listen at an address, by whatever name agents call it: every route needs a key.
   *
   * @param tls to answer HTTPS
   * @param tasks handler of requests below {@code /tasks/}
   * @throws java.net.BindException if the address is taken
   */
  public static GatewayServer start(
      InetSocketAddress address, Optional<SSLContext> tls, TaskRoute tasks) throws IOException {
    return start(address, tls, Optional.empty(), tasks);
  }

  private static GatewayServer start(
      InetSocketAddress address,
      Optional<SSLContext> tls,
      Optional<SameSiteCheck> site,
      TaskRoute tasks)
      throws IOException {
    BoundedHttpServer http =
        BoundedHttpServer.bind(
            address,
            tls.map(HttpsConfigurator::new),
            BoundedHttpServer.Limits.of(MOST_REQUESTS),
            what -> LOG.warn("gateway={} {}", address, what));
    GatewayServer server = new GatewayServer(http, site, tasks);
    http.start(server::handle);
    return server;
  }

  /** Returns the port on which the server listens. */
  public int port() {
    return http.port();
  }

  /** Opens a session. */
  public void open(GatewaySession session) {
    sessions.put(session.id(), session);
  }

  /** Forgets a session that has ended. */
  public void forget(GatewaySession session) {
    sessions.remove(session.id(), session);
  }

  /** Returns the address of a session for this host, without {@code /v1}. */
  public String url(GatewaySession session) {
    return "http://127.0.0.1:%d%s".formatted(http.port(), path(session.id()));
  }

  /** The path of a session. */
  public static String path(String id) {
    return "/e/" + id;
  }

  private void handle(HttpExchange exchange) throws IOException {
    String where = exchange.getRequestURI().getPath().replaceAll("//+", "/");
    Matcher path = PATH.matcher(where);
    String route = path.matches() && path.group(2) != null ? path.group(2) : "";
    Optional<AgentDialect> spoken = AgentDialect.ofRoute(route);
    TurnExchange turn = new TurnExchange(exchange, spoken.orElseGet(ChatCompletions::new));
    try {
      refuseForeign(exchange.getRequestHeaders());
      if (where.startsWith(TASKS)) {
        tasks.answer(exchange, where.substring(TASKS.length()));
        return;
      }
      if (!path.matches()) {
        throw noRoute();
      }
      GatewaySession session = session(path.group(1), exchange.getRequestHeaders());
      if (READS.contains(exchange.getRequestMethod()) && ServedModels.lists(route)) {
        turn.reply(200, ServedModels.answer(route));
      } else if (spoken.isEmpty() || !exchange.getRequestMethod().equals("POST")) {
        throw noRoute();
      } else if (AgentDialect.counts(route)) {
        int tokens = session.count(turn.read(body(exchange), RequestReader.GATEWAY));
        turn.reply(200, JsonFields.object().put("input_tokens", tokens));
      } else {
        answer(turn, session);
      }
    } catch (RefusedTurnException refused) {
      refuse(turn, refused.refusal());
    } catch (RuntimeException | OutOfMemoryError broken) { // only the log shows it
      LOG.error("path={} failed", where, broken);
      if (exchange.getResponseCode() < 0) {
        refuse(turn, new Refusal(500, "internal_error", "", Causes.message(broken)));
      }
    } catch (InterruptedException closing) {
      Thread.currentThread().interrupt();
    }
  }

  /** The refusal of a request that has no route. */
  public static RefusedTurnException noRoute() {
    return new RefusedTurnException(404, "not_found", "no route of this name");
  }

  private void refuseForeign(Headers headers) throws RefusedTurnException {
    Optional<String> foreign =
        site.flatMap(known -> known.foreignHost(headers))
            .or(() -> SameSiteCheck.foreignOrigin(headers));
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
    if (!session.isOpenedBy(key(headers))) {
      throw new RefusedTurnException(
          401, "invalid_api_key", "the key is missing, or is another episode's");
    }
    return session;
  }

  /** The key that a request brings; empty if it brings none. */
  public static String key(Headers headers) {
    String bearer =
        SameSiteCheck.header(headers, "Authorization").replaceFirst("(?i)^Bearer +", "");
    return bearer.isEmpty() ? SameSiteCheck.header(headers, "x-api-key") : bearer;
  }

  private static void answer(TurnExchange exchange, GatewaySession session)
      throws IOException, InterruptedException, RefusedTurnException {
    session.answering();
    try {
      answerTurn(exchange, session);
    } finally {
      session.answered();
    }
  }

  private static void answerTurn(TurnExchange exchange, GatewaySession session)
      throws IOException, InterruptedException, RefusedTurnException {
    TurnRequest request = exchange.read(body(exchange.exchange()), RequestReader.GATEWAY);
    PendingTurn turn = session.ask(request, proof(exchange.exchange().getRequestHeaders()));
    try {
      if (exchange.send(session.awaited(turn), request)) {
        turn.delivered();
      }
    } catch (IOException | RuntimeException gone) {
      turn.lost();
      throw gone;
    }
  }

  private static GatewaySession.RetryProof proof(Headers headers) {
    String count = SameSiteCheck.header(headers, "x-stainless-retry-count");
    return new GatewaySession.RetryProof(
        !count.isEmpty() && !count.equals("0"), SameSiteCheck.header(headers, "Idempotency-Key"));
  }

  /**
   * Reads the body of a request.
   *
   * @throws RefusedTurnException if it is no JSON, or too large
   */
  public static JsonNode body(HttpExchange exchange) throws IOException, RefusedTurnException {
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

  private static void refuse(TurnExchange turn, Refusal refusal) throws IOException {
    // Unread bytes of a body may be left.
    turn.exchange().getResponseHeaders().set("Connection", "close");
    RetryHeaders.set(turn.exchange().getResponseHeaders(), refusal.status());
    if (refusal.code().equals(GatewaySession.ENGINE_FAILED)) { // its episode has ended
      RetryHeaders.refuse(turn.exchange().getResponseHeaders());
    }
    turn.reply(refusal.status(), turn.dialect().error(refusal));
  }

  /** Ends all requests and stops to listen. */
  @Override
  public void close() {
    http.close(CLOSE_SECONDS);
  }
}
