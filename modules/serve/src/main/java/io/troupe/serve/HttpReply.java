package io.troupe.serve;

import com.fasterxml.jackson.databind.JsonNode;
import com.sun.net.httpserver.HttpExchange;
import io.troupe.engine.protocol.JsonFields;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** Writes one answer. Every write fails once the client has disconnected. */
final class HttpReply {
  private static final byte[] PING = ": ping\n\n".getBytes(StandardCharsets.UTF_8);
  private static final byte[] DONE = "data: [DONE]\n\n".getBytes(StandardCharsets.UTF_8);
  private static final byte[] DATA = "data: ".getBytes(StandardCharsets.UTF_8);

  private final HttpExchange exchange;

  HttpReply(HttpExchange exchange) {
    this.exchange = exchange;
  }

  void json(int status, JsonNode json) throws IOException {
    bytes(status, "application/json", JsonFields.bytes(json));
  }

  void text(int status, String text) throws IOException {
    bytes(
        status, "text/plain; version=0.0.4; charset=utf-8", text.getBytes(StandardCharsets.UTF_8));
  }

  private void bytes(int status, String type, byte[] bytes) throws IOException {
    exchange.getResponseHeaders().set("Content-Type", type);
    exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
    if (bytes.length > 0) {
      exchange.getResponseBody().write(bytes);
    }
  }

  /** Begins a stream of events. */
  void stream() throws IOException {
    exchange.getResponseHeaders().set("Content-Type", "text/event-stream; charset=utf-8");
    exchange.getResponseHeaders().set("Cache-Control", "no-cache");
    exchange.sendResponseHeaders(200, 0);
  }

  /** Sends an event immediately. */
  void event(JsonNode json) throws IOException {
    last(json);
    exchange.getResponseBody().flush();
  }

  /** Writes an event without a flush, because more data follows immediately. */
  void last(JsonNode json) throws IOException {
    byte[] body = JsonFields.bytes(json);
    byte[] all = new byte[DATA.length + body.length + 2];
    System.arraycopy(DATA, 0, all, 0, DATA.length);
    System.arraycopy(body, 0, all, DATA.length, body.length);
    all[all.length - 2] = '\n';
    all[all.length - 1] = '\n';
    exchange.getResponseBody().write(all);
  }

  void ping() throws IOException {
    exchange.getResponseBody().write(PING);
    exchange.getResponseBody().flush();
  }

  /** Writes the end mark; it is sent when the answer is closed. */
  void done() throws IOException {
    exchange.getResponseBody().write(DONE);
  }
}
