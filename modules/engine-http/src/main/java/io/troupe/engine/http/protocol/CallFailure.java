package io.troupe.engine.http.protocol;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.engine.protocol.JsonFields;
import io.troupe.engine.protocol.MalformedResponseException;
import java.time.Duration;
import java.util.Locale;
import java.util.Set;

/**
 * The reason why a call to a server failed.
 *
 * @param status the HTTP status; 0 without one
 * @param message the server's message, at most one line, or a description of the event
 * @param retryAfter time for which the server asks clients to wait; zero if it does not say
 */
public record CallFailure(Kind kind, int status, String message, Duration retryAfter) {
  private static final Set<Kind> REFUSALS =
      Set.of(Kind.BAD_REQUEST, Kind.UNAUTHORISED, Kind.NO_MODEL, Kind.NO_ROUTE, Kind.UNEXPECTED);

  /** The kinds of failure, by their remedy. */
  public enum Kind {
    /** The request is wrong: 400, 413, 415, 422, 501. */
    BAD_REQUEST,
    /** The key is missing or wrong: 401, 403. */
    UNAUTHORISED,
    /** The server has no model of that name. */
    NO_MODEL,
    /** The server has no adapter of that name: it was restarted, or unloaded the adapter. */
    NO_ADAPTER,
    /** The server has no such route: 404, 405. */
    NO_ROUTE,
    /** The server has too much work at the moment: 429, 503. */
    BUSY,
    /** The server failed: other 5xx. */
    SERVER,
    /** An error came as a message of the stream, after 200. */
    IN_STREAM,
    /** The answer broke off before its end. */
    TRUNCATED,
    /** The answer does not follow the dialect. */
    MALFORMED,
    /** No connection was made, or it broke before the first byte of the answer. */
    NO_CONNECTION,
    /** No answer began in time. */
    NO_ANSWER,
    /** The answer began and then stalled. */
    STALLED,
    /** The deadline of the whole request has passed. */
    TOO_LATE,
    /** A redirect, or another unexpected status. */
    UNEXPECTED
  }

  /** A failure without an answer. */
  public static CallFailure of(Kind kind, String message) {
    return new CallFailure(kind, 0, message, Duration.ZERO);
  }

  /** The failure that an error status means. No body makes this method fail. */
  public static CallFailure ofStatus(int status, String body, String retryAfter) {
    String message = message(body);
    return new CallFailure(
        kind(status, message),
        status,
        message.isEmpty() ? "no message" : message,
        seconds(retryAfter));
  }

  /**
   * The failure of a message in the stream, after status 200; a server that failed has cut the
   * answer.
   */
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

  /** The message of an error object in any known shape, or the beginning of the text. */
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

  /** This failure, for a request that named an adapter. */
  public CallFailure ofAdapterRequest() {
    String said = message.toLowerCase(Locale.ROOT);
    boolean ofAdapters = said.contains("lora") || said.contains("adapter");
    boolean unknown =
        kind == Kind.NO_MODEL
            || (kind == Kind.BAD_REQUEST && ofAdapters)
            // SGLang reports an unloaded adapter in the stream, after status 200.
            || (kind == Kind.IN_STREAM && ofAdapters && said.contains("not loaded"));
    return unknown ? new CallFailure(Kind.NO_ADAPTER, status, message, retryAfter) : this;
  }

  /** Whether the server accepted the request and then sampled nothing. */
  public boolean isHang() {
    return kind == Kind.NO_ANSWER || kind == Kind.STALLED;
  }

  /** Whether the tokens before the failure are usable: the answer was only cut. */
  public boolean isCut() {
    return kind == Kind.TRUNCATED || kind == Kind.IN_STREAM || kind == Kind.STALLED;
  }

  /** Whether the server explicitly refused the request. */
  public boolean isRefusal() {
    return REFUSALS.contains(kind);
  }

  /** Whether the server may have restarted, with unknown weights. */
  public boolean mayBeRestart() {
    return kind == Kind.NO_CONNECTION || kind == Kind.NO_ADAPTER || status == 503;
  }

  /** Whether the failure shows a fault of the server, and not a temporary load. */
  public boolean speaksAgainstServer() {
    return kind != Kind.BUSY && kind != Kind.TOO_LATE;
  }
}
