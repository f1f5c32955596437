package io.troupe.gateway;

import com.fasterxml.jackson.databind.JsonNode;
import com.sun.net.httpserver.HttpExchange;
import io.troupe.base.failure.Causes;
import io.troupe.engine.protocol.JsonFields;
import io.troupe.gateway.dialog.MalformedTurnException;
import io.troupe.gateway.dialog.TurnReply;
import io.troupe.gateway.dialog.TurnRequest;
import io.troupe.gateway.wire.AgentDialect;
import io.troupe.gateway.wire.AgentDialect.Refusal;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;

/** One request of an agent over HTTP, answered in its dialect as a whole or as events. */
public record TurnExchange(HttpExchange exchange, AgentDialect dialect) {
  private static final Duration KEEP_ALIVE = Duration.ofSeconds(15);

  /** A comment without an empty line behind it: some clients read an empty event as JSON. */
  private static final byte[] KEEP_ALIVE_COMMENT =
      ": keep-alive\n".getBytes(StandardCharsets.UTF_8);

  /** An answer that is being sampled. */
  @FunctionalInterface
  public interface AwaitedReply {
    /**
     * Waits for the answer; empty if it takes longer.
     *
     * @throws RefusedTurnException if there will be none
     */
    Optional<TurnReply> within(Duration patience) throws InterruptedException, RefusedTurnException;
  }

  /**
   * Reads a request.
   *
   * @throws RefusedTurnException if it is none of the dialect
   */
  public TurnRequest read(JsonNode body) throws RefusedTurnException {
    try {
      return dialect.read(body);
    } catch (MalformedTurnException malformed) {
      throw new RefusedTurnException(
          new Refusal(400, "invalid_request", malformed.parameter(), Causes.message(malformed)));
    }
  }

  /**
   * Sends an answer once it is there. A stream is kept alive meanwhile.
   *
   * @return false if the sampling failed behind the status of a stream, which then ends with the
   *     failure
   * @throws IOException if the agent has disconnected
   * @throws RefusedTurnException if the sampling fails before a status is sent
   */
  public boolean send(AwaitedReply awaited, TurnRequest request)
      throws IOException, InterruptedException, RefusedTurnException {
    Optional<TurnReply> reply = awaited.within(KEEP_ALIVE);
    if (request.stream()) {
      return stream(awaited, reply, request);
    }
    while (reply.isEmpty()) {
      reply = awaited.within(KEEP_ALIVE);
    }
    reply(200, dialect.whole(reply.get(), request));
    return true;
  }

  private boolean stream(AwaitedReply awaited, Optional<TurnReply> first, TurnRequest request)
      throws IOException, InterruptedException {
    exchange.getResponseHeaders().set("Content-Type", "text/event-stream; charset=utf-8");
    exchange.getResponseHeaders().set("Cache-Control", "no-cache");
    exchange.sendResponseHeaders(200, 0);
    OutputStream out = exchange.getResponseBody();
    StringBuilder text = new StringBuilder();
    boolean answered = true;
    try {
      Optional<TurnReply> reply = first;
      while (reply.isEmpty()) {
        out.write(KEEP_ALIVE_COMMENT);
        out.flush();
        reply = awaited.within(KEEP_ALIVE);
      }
      dialect.events(reply.get(), request).forEach(event -> text.append(event.text()));
    } catch (RefusedTurnException failed) {
      text.append(dialect.failure(failed.refusal()).text());
      answered = false;
    }
    out.write(text.toString().getBytes(StandardCharsets.UTF_8));
    out.close();
    return answered;
  }

  /** Sends a body. */
  public void reply(int status, JsonNode json) throws IOException {
    byte[] bytes = JsonFields.bytes(json);
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    exchange.sendResponseHeaders(status, bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.getResponseBody().close();
  }
}
