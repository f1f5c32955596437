package io.troupe.console.chat;

import com.fasterxml.jackson.databind.JsonNode;
import com.sun.net.httpserver.HttpExchange;
import io.troupe.console.http.ApiException;
import io.troupe.console.http.ConsoleJson;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Duration;
import java.util.List;

/**
 * Answers {@code /api/v1/chat}: a GET returns what may be asked, a question is answered in lines of
 * JSON as it is drawn. While nothing is drawn empty lines are sent, by which it is noticed that the
 * reader is gone; then the draw ends.
 */
public final class ChatRoute {
  private static final Duration PING = Duration.ofMillis(500);
  private static final String HIDDEN =
      "console.hide_text is true, so this console shows no text of the policy, and samples none;"
          + " troupe serve RUN answers";

  private final Chat chat;
  private final boolean hideText;

  public ChatRoute(Chat chat, boolean hideText) {
    this.chat = chat;
    this.hideText = hideText;
  }

  /** Whether questions are answered, and what may be asked. */
  public Chat.Offer offer() {
    return hideText ? new Chat.Closed(HIDDEN) : chat.offer();
  }

  /** The question of a request that was let in. */
  public ChatRequest read(JsonNode body) throws ApiException {
    return switch (offer()) {
      case Chat.Open open -> ChatRequest.of(body, open);
      case Chat.Closed(String why) -> throw new ApiException(hideText ? 403 : 409, why);
    };
  }

  /** Answers a question to the end, or until the reader goes away. */
  public void answer(HttpExchange exchange, ChatRequest ask)
      throws ApiException, IOException, InterruptedException {
    switch (chat.begin(ask)) {
      case Chat.Refused(Chat.Why why, String sentence) ->
          throw new ApiException(status(exchange, why), sentence);
      case Chat.Begun(Chat.Sampling draw) -> {
        try (draw) {
          exchange.getResponseHeaders().set("Content-Type", "application/x-ndjson; charset=utf-8");
          exchange.sendResponseHeaders(200, 0);
          write(exchange, draw);
        } catch (IOException gone) {
          // The reader went away, which is how an answer is stopped.
        }
      }
    }
  }

  private static int status(HttpExchange exchange, Chat.Why why) {
    return switch (why) {
      case UNFIT -> 400;
      case NOT_HERE -> 409;
      case NOT_NOW -> 503;
      case BUSY -> {
        exchange.getResponseHeaders().set("Retry-After", "1");
        yield 429;
      }
    };
  }

  private static void write(HttpExchange exchange, Chat.Sampling draw)
      throws IOException, InterruptedException {
    try (OutputStream out = exchange.getResponseBody()) {
      boolean more = true;
      while (more) {
        List<Chat.Piece> pieces = draw.next(PING);
        if (pieces.isEmpty()) {
          out.write('\n');
        }
        for (Chat.Piece piece : pieces) {
          out.write(ConsoleJson.bytes(piece));
          out.write('\n');
          more = piece instanceof Chat.Said;
        }
        out.flush();
      }
    }
  }
}
