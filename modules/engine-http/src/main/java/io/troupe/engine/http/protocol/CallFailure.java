package io.troupe.engine.http.protocol;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.engine.protocol.JsonFields;
import io.troupe.engine.protocol.MalformedResponseException;
import java.time.Duration;
import java.util.Locale;

/**
 * Why a call of a server failed.
 *
 * @param status of HTTP; 0 where there was none
 * @param message what the server said, at most a line of it, or what happened
 * @param retryAfter how long the server wants to be left alone; zero where it did not say
 */
public record CallFailure(Kind kind, int status, String message, Duration retryAfter) {
  /** The kinds of failure, by what is to be done. */
  public enum Kind {
    /** The request is wrong: 400, 413, 415, 422, 501. */
    BAD_REQUEST,
    /** The key is missing or wrong: 401, 403. */
    UNAUTHORISED,
    /** The server serves no model of that name. */
    NO_MODEL,
    /** The server has no adapter of the name asked for: it was started anew, or let it go. */
    NO_ADAPTER,
    /** The server has no such route: 404, 405. */
    NO_ROUTE,
    /** Too much work at the moment: 429, 503. */
    BUSY,
    /** The server failed: other 5xx. */
    SERVER,
    /** An error came as a message of the stream, after 200. */
    IN_STREAM,
    /** The answer ended before its end. */
    TRUNCATED,
    /** The answer is not what the dialect says. */
    MALFORMED,
    /** No connection came about, or it broke before a byte of the answer. */
    NO_CONNECTION,
    /** Nothing came back in time. */
    NO_ANSWER,
    /** The answer began, and then nothing more came. */
    STALLED,
    /** The deadline of the whole request. */
    TOO_LATE,
    /** A redirect, or another status nobody expects here. */
    UNEXPECTED
  }

  /** A failure that no answer tells of. */
  public static CallFailure of(Kind kind, String message) {
    return new CallFailure(kind, 0, message, Duration.ZERO);
  }

  /** What an answer with an error status says; whatever the body is, this does not fail. */
  public static CallFailure ofStatus(int status, String body, String retryAfter) {
    String message = message(body);
    return new CallFailure(
        kind(status, message),
        status,
        message.isEmpty() ? "no message" : message,
        seconds(retryAfter));
  }

  /** The same in a message of the stream, after 200; a server that failed has cut the answer. */
  static CallFailure inStream(int status, String message) {
    CallFailure said = ofStatus(status, message, "");
    return status >= 500
        ? new CallFailure(Kind.IN_STREAM, status, said.message(), Duration.ZERO)
        : said;
  }

  private static Kind kind(int status, String message) {
    return switch (status) {
      case 400, 411, 413, 415, 422, 501 -> Kind.BAD_REQUEST;
      case 401, 403 -> Kind.UNAUTHORISED;
      case 404, 405 ->
          message.toLowerCase(Locale.ROOT).contains("model") ? Kind.NO_MODEL : Kind.NO_ROUTE;
      case 429, 503 -> Kind.BUSY;
      default -> status >= 500 ? Kind.SERVER : Kind.UNEXPECTED;
    };
  }

  /** The message of an error object in any of the shapes in use, or the beginning of the text. */
  static String message(String body) {
    JsonNode node;
    try {
      node = JsonFields.parse(body);
    } catch (MalformedResponseException notJson) {
      return JsonFields.excerpt(body.replaceAll("<[^>]{0,200}>", " "));
    }
    JsonNode error = node.path("error");
    for (JsonNode text :
        new JsonNode[] {error.path("message"), error, node.path("detail"), node.path("message")}) {
      if (text.isTextual()) {
        return JsonFields.excerpt(text.textValue());
      }
    }
    return JsonFields.excerpt(body);
  }

  private static Duration seconds(String header) {
    try {
      return Duration.ofSeconds(Math.clamp(Long.parseLong(header.strip()), 0, 3600));
    } catch (NumberFormatException dateOrNothing) {
      return Duration.ZERO;
    }
  }

  @Override
  public String toString() {
    String name = kind.name().toLowerCase(Locale.ROOT).replace('_', ' ');
    return status == 0 ? name + ": " + message : "%s (%d): %s".formatted(name, status, message);
  }

  /** The same of a request that named an adapter. */
  public CallFailure ofAdapterRequest() {
    String said = message.toLowerCase(Locale.ROOT);
    boolean ofAdapters = said.contains("lora") || said.contains("adapter");
    boolean unknown =
        switch (kind) {
          case NO_MODEL -> true;
          case BAD_REQUEST -> ofAdapters;
          case IN_STREAM -> ofAdapters && said.contains("not loaded"); // SGLang, after 200
          case UNAUTHORISED,
              NO_ADAPTER,
              NO_ROUTE,
              BUSY,
              SERVER,
              TRUNCATED,
              MALFORMED,
              NO_CONNECTION,
              NO_ANSWER,
              STALLED,
              TOO_LATE,
              UNEXPECTED ->
              false;
        };
    return unknown ? new CallFailure(Kind.NO_ADAPTER, status, message, retryAfter) : this;
  }

  /** Whether the server took the request and then drew nothing. */
  public boolean isHang() {
    return kind == Kind.NO_ANSWER || kind == Kind.STALLED;
  }

  /** Whether what came before it is as good as if it had not come: the answer was only cut. */
  public boolean isCut() {
    return kind == Kind.TRUNCATED || kind == Kind.IN_STREAM || kind == Kind.STALLED;
  }

  /** Whether the server would not do what it was asked for, and said so. */
  public boolean isRefusal() {
    return switch (kind) {
      case BAD_REQUEST, UNAUTHORISED, NO_MODEL, NO_ROUTE, UNEXPECTED -> true;
      case NO_ADAPTER,
          BUSY,
          SERVER,
          IN_STREAM,
          TRUNCATED,
          MALFORMED,
          NO_CONNECTION,
          NO_ANSWER,
          STALLED,
          TOO_LATE ->
          false;
    };
  }

  /** Whether the server may have been started anew, with whatever weights. */
  public boolean mayBeRestart() {
    return kind == Kind.NO_CONNECTION || kind == Kind.NO_ADAPTER || status == 503;
  }

  /** Whether it speaks against the server, not against its hour. */
  public boolean speaksAgainstServer() {
    return switch (kind) {
      case BUSY, TOO_LATE -> false;
      case BAD_REQUEST,
          UNAUTHORISED,
          NO_MODEL,
          NO_ADAPTER,
          NO_ROUTE,
          SERVER,
          IN_STREAM,
          TRUNCATED,
          MALFORMED,
          NO_CONNECTION,
          NO_ANSWER,
          STALLED,
          UNEXPECTED ->
          true;
    };
  }
}
