package io.troupe.gateway.agent;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import io.troupe.engine.protocol.JsonFields;
import io.troupe.gateway.GatewayServer;
import io.troupe.gateway.RefusedTurnException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The routes at which agents of any host get their tasks, under a key that is none of a session's.
 *
 * <ul>
 *   <li>{@code POST /tasks/next} {@code {"request", "wait"}}: a task, or 204
 *   <li>{@code POST /tasks/ID/alive}: a sign of life
 *   <li>{@code POST /tasks/ID/done} {@code {"failed"}}: the end of the agent's work
 * </ul>
 */
final class TaskRoutes implements GatewayServer.TaskRoute {
  private static final int MOST_WAIT_SECONDS = 60;
  private static final int MOST_REQUEST = 100;
  private static final int MOST_REASON = 500;
  private static final Pattern OF_TASK = Pattern.compile("([a-z0-9-]+)/(alive|done)");

  /** A name that a request may call this server by, and that its agent is sent back. */
  private static final Pattern HOST = Pattern.compile("[A-Za-z0-9.:\\[\\]_-]{1,255}");

  private final TaskQueue queue;
  private final byte[] key;
  private final String scheme;
  private final Duration silence;

  /**
   * Routes over a queue.
   *
   * @param key of the agents
   * @param scheme by which the server is reached
   * @param silence of an agent that it must not exceed
   */
  TaskRoutes(TaskQueue queue, byte[] key, String scheme, Duration silence) {
    this.queue = queue;
    this.key = key.clone();
    this.scheme = scheme;
    this.silence = silence;
  }

  @Override
  public void answer(HttpExchange exchange, String path)
      throws IOException, InterruptedException, RefusedTurnException {
    if (!exchange.getRequestMethod().equals("POST")) {
      throw GatewayServer.noRoute();
    }
    byte[] given = GatewayServer.key(exchange.getRequestHeaders()).getBytes(StandardCharsets.UTF_8);
    if (!MessageDigest.isEqual(key, given)) {
      throw new RefusedTurnException(
          401, "invalid_api_key", "the key is missing, or is not that of the run's agents");
    }
    Matcher task = OF_TASK.matcher(path);
    if (path.equals("next")) {
      next(exchange);
    } else if (!task.matches()) {
      throw GatewayServer.noRoute();
    } else if (task.group(2).equals("alive")) {
      alive(exchange, task.group(1));
    } else {
      done(exchange, task.group(1));
    }
  }

  private void next(HttpExchange exchange)
      throws IOException, InterruptedException, RefusedTurnException {
    JsonNode body = GatewayServer.body(exchange);
    String host = String.valueOf(exchange.getRequestHeaders().getFirst("Host"));
    if (!HOST.matcher(host).matches()) {
      throw new RefusedTurnException(400, "invalid_request", "the header Host names no host");
    }
    JsonNode wait = body.path("wait");
    if (!wait.isMissingNode()
        && !(wait.isNumber()
            && wait.doubleValue() >= 0
            && wait.doubleValue() <= MOST_WAIT_SECONDS)) {
      throw new RefusedTurnException(
          400, "invalid_request", "wait is from 0 to %d seconds".formatted(MOST_WAIT_SECONDS));
    }
    Optional<TaskQueue.OfferedTask> found =
        queue.next(request(body), Duration.ofMillis(Math.round(wait.asDouble() * 1000)));
    if (found.isEmpty()) {
      exchange.sendResponseHeaders(204, -1);
      return;
    }
    try {
      reply(exchange, json(found.get().task(), host));
    } catch (IOException gone) {
      found.get().undelivered().complete(null);
      throw gone;
    }
  }

  private static String request(JsonNode body) throws RefusedTurnException {
    JsonNode request = body.path("request");
    if (request.isMissingNode()) {
      return UUID.randomUUID().toString();
    }
    String text = request.asText();
    if (text.isEmpty() || text.length() > MOST_REQUEST) {
      throw new RefusedTurnException(
          400,
          "invalid_request",
          "request is a text of 1 to %d characters, another for each task".formatted(MOST_REQUEST));
    }
    return text;
  }

  private ObjectNode json(AgentTask task, String host) {
    String id = task.key().id();
    return task.json("%s://%s%s".formatted(scheme, host, GatewayServer.path(id)))
        .put("task_id", id)
        .put("prompt_id", task.prompt().id().value())
        .put("source", task.prompt().source())
        .put("timeout", task.timeout().toMillis() / 1000.0)
        .put("silence", silence.toMillis() / 1000.0);
  }

  private void alive(HttpExchange exchange, String id) throws IOException, RefusedTurnException {
    if (queue.sign(id).isEmpty()) {
      throw concluded(id);
    }
    reply(exchange, JsonNodeFactory.instance.objectNode());
  }

  private void done(HttpExchange exchange, String id) throws IOException, RefusedTurnException {
    JsonNode body = GatewayServer.body(exchange);
    String failed = body.path("failed").asText("");
    if (!queue.report(
        id, new TaskQueue.Report(failed.substring(0, Math.min(failed.length(), MOST_REASON))))) {
      throw concluded(id);
    }
    reply(exchange, JsonNodeFactory.instance.objectNode());
  }

  private static RefusedTurnException concluded(String id) {
    return new RefusedTurnException(
        409, "concluded", "no agent has task %s; it has ended, or never began".formatted(id));
  }

  private static void reply(HttpExchange exchange, ObjectNode json) throws IOException {
    byte[] bytes = JsonFields.bytes(json);
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    exchange.sendResponseHeaders(200, bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.getResponseBody().close();
  }
}
