package io.troupe.gateway;

import com.fasterxml.jackson.databind.JsonNode;
import com.sun.net.httpserver.HttpExchange;
import io.troupe.base.failure.Causes;
import io.troupe.engine.IncrementalText;
import io.troupe.engine.protocol.JsonFields;
import io.troupe.gateway.dialog.MalformedTurnException;
import io.troupe.gateway.dialog.TurnReply;
import io.troupe.gateway.dialog.TurnRequest;
import io.troupe.gateway.dialog.TurnStart;
import io.troupe.gateway.fields.RequestReader;
import io.troupe.gateway.wire.AgentDialect;
import io.troupe.gateway.wire.AgentDialect.Refusal;
import io.troupe.gateway.wire.AnswerStream;
import io.troupe.gateway.wire.ServerEvent;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** One request of an agent over HTTP, answered in its dialect as a whole or as events. */
public record TurnExchange(HttpExchange exchange, AgentDialect dialect) {
  private static final Duration KEEP_ALIVE = Duration.ofSeconds(15);
  private static final int NO_BODY = -1;

  /**
   * More of an answer.
   *
   * @param tokens that were sampled meanwhile; the engine of a stream that has none gives them all
   *     with the reply
   * @param reply at the end
   */
  @SuppressWarnings("ArrayRecordComponent") // carried, never compared
  public record Progress(int[] tokens, Optional<TurnReply> reply) {}

  /**
   * An answer that is being sampled.
   *
   * @param start facts of the answer; asked once there is more of it
   * @param codec reader of the answer
   * @param source source of the answer
   */
  public record AwaitedReply(Supplier<TurnStart> start, TurnCodec codec, ReplySource source) {
    private Progress within(int from) throws InterruptedException, RefusedTurnException {
      return source.within(from, KEEP_ALIVE);
    }
  }

  /** The source of an answer. */
  @FunctionalInterface
  public interface ReplySource {
    /**
     * Waits for more of the answer; no tokens and no reply if that takes longer.
     *
     * @param from tokens that are known
     * @throws RefusedTurnException if the answer will have no end
     */
    Progress within(int from, Duration patience) throws InterruptedException, RefusedTurnException;
  }

  /**
   * Reads a request.
   *
   * @throws RefusedTurnException if it is none of the dialect, or asks for something that is not
   *     offered
   */
  public TurnRequest read(JsonNode body, RequestReader reader) throws RefusedTurnException {
    try {
      return dialect.read(body, reader);
    } catch (MalformedTurnException malformed) {
      throw new RefusedTurnException(
          new Refusal(400, "invalid_request", malformed.parameter(), Causes.message(malformed)));
    }
  }

  /**
   * Sends an answer: as a whole once it is there, or as events while it is sampled. A stream that
   * has no news is kept alive by events.
   *
   * @return false if the sampling failed behind the status of a stream, which then ends with the
   *     failure
   * @throws IOException if the agent has disconnected
   * @throws RefusedTurnException if the sampling fails before a status is sent
   */
  public boolean send(AwaitedReply awaited, TurnRequest request)
      throws IOException, InterruptedException, RefusedTurnException {
    Progress first = awaited.within(0);
    if (request.stream()) {
      return stream(awaited, first, request);
    }
    Optional<TurnReply> reply = first.reply();
    while (reply.isEmpty()) {
      reply = awaited.within(Integer.MAX_VALUE).reply();
    }
    reply(200, dialect.whole(reply.get(), request));
    return true;
  }

  private boolean stream(AwaitedReply awaited, Progress first, TurnRequest request)
      throws IOException, InterruptedException {
    exchange.getResponseHeaders().set("Content-Type", "text/event-stream; charset=utf-8");
    exchange.getResponseHeaders().set("Cache-Control", "no-cache");
    exchange.sendResponseHeaders(200, 0);
    try (OutputStream out = exchange.getResponseBody()) {
      AnswerStream events = dialect.stream(awaited.start().get(), request);
      List<ServerEvent> next = events.begin();
      try {
        IncrementalText text = awaited.codec().growing(request);
        StringBuilder whole = new StringBuilder();
        int tokens = 0;
        Progress progress = first;
        while (progress.reply().isEmpty()) {
          tokens += progress.tokens().length;
          whole.append(text.add(progress.tokens(), false));
          write(out, next);
          write(out, news(events, awaited.codec().soFar(whole.toString(), request), progress));
          next = List.of();
          progress = awaited.within(tokens);
        }
        write(out, joined(next, events.end(progress.reply().get())));
        return true;
      } catch (RefusedTurnException failed) {
        write(out, joined(next, List.of(dialect.failure(failed.refusal()))));
        return false;
      }
    }
  }

  private static List<ServerEvent> news(
      AnswerStream events, TurnReply.ParsedAnswer soFar, Progress progress) {
    return progress.tokens().length == 0 ? List.of(events.alive()) : events.grow(soFar);
  }

  private static List<ServerEvent> joined(List<ServerEvent> first, List<ServerEvent> then) {
    return Stream.concat(first.stream(), then.stream()).toList();
  }

  private static void write(OutputStream out, List<ServerEvent> events) throws IOException {
    if (!events.isEmpty()) {
      StringBuilder text = new StringBuilder();
      events.forEach(event -> text.append(event.text()));
      out.write(text.toString().getBytes(StandardCharsets.UTF_8));
      out.flush();
    }
  }

  /** Sends a body, which an answer to {@code HEAD} leaves out. */
  public void reply(int status, JsonNode json) throws IOException {
    byte[] bytes = JsonFields.bytes(json);
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    if (exchange.getRequestMethod().equals("HEAD")) {
      exchange.getResponseHeaders().set("Content-Length", Integer.toString(bytes.length));
      exchange.sendResponseHeaders(status, NO_BODY);
      exchange.close();
      return;
    }
    exchange.sendResponseHeaders(status, bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.getResponseBody().close();
  }
}
