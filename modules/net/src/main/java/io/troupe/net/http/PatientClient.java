package io.troupe.net.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.troupe.core.outage.Backoff;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.Optional;

/**
 * Sends requests to servers that answer with text and are busy at times. A request to a busy server
 * (408, 429, 5xx), to one that cannot be reached, and one whose answer is late may be repeated,
 * after a pause that doubles unless the server names one.
 */
public final class PatientClient implements AutoCloseable {
  private static final int EXCERPT = 200;

  /** Waits between two attempts. */
  @FunctionalInterface
  public interface Pause {
    void wait(Duration time) throws InterruptedException;
  }

  /** The result of a request. */
  public sealed interface Reply {
    /** The body of an answer with status 200. */
    record Text(String text) implements Reply {}

    /**
     * The request may be repeated.
     *
     * @param late whether a whole answer did not come in time
     * @param after the pause that the server asks for
     */
    record Again(String why, boolean late, Optional<Duration> after) implements Reply {}

    /** A repeated request would be refused too. */
    record Refused(String why) implements Reply {}
  }

  /** One of several attempts, which count from 1. */
  @FunctionalInterface
  public interface Attempt {
    Reply make(int number) throws InterruptedException;
  }

  private final HttpResponse.BodyHandler<String> body;
  private final Backoff backoff;
  private final Pause pause;
  // HTTP/1.1: servers that do not support the upgrade to HTTP/2 drop the request's body with it.
  private final HttpClient http =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(Duration.ofSeconds(10))
          .build();

  /**
   * A client that has sent nothing yet.
   *
   * @param mostBytes of an answer; a longer one fails
   * @param backoff pauses; the longest also bounds those that servers ask for
   */
  public PatientClient(long mostBytes, Backoff backoff, Pause pause) {
    this.body =
        HttpResponse.BodyHandlers.limiting(HttpResponse.BodyHandlers.ofString(UTF_8), mostBytes);
    this.backoff = backoff;
    this.pause = pause;
  }

  /** Sends a request once, and waits at most {@code timeout} for the whole answer. */
  public Reply send(HttpRequest request, Duration timeout) throws InterruptedException {
    HttpResponse<String> response;
    try {
      response = WholeResponse.within(http, request, body, timeout);
    } catch (HttpTimeoutException late) {
      return late(timeout);
    } catch (IOException away) {
      return away(away);
    }
    int status = response.statusCode();
    if (status == 200) {
      return new Reply.Text(response.body());
    }
    String why = "HTTP %d: %s".formatted(status, excerpt(response.body()));
    return status == 408 || status == 429 || status >= 500
        ? new Reply.Again(why, false, retryAfter(response))
        : new Reply.Refused(why);
  }

  /**
   * Sends a request once, to see whether there is a server: any answer is {@link Reply.Text},
   * without its body.
   */
  public Reply reach(HttpRequest request, Duration timeout) throws InterruptedException {
    try {
      HttpResponse<Void> _ =
          WholeResponse.within(http, request, HttpResponse.BodyHandlers.discarding(), timeout);
      return new Reply.Text("");
    } catch (HttpTimeoutException late) {
      return late(timeout);
    } catch (IOException away) {
      return away(away);
    }
  }

  private static Reply late(Duration timeout) {
    return new Reply.Again("no whole reply within " + timeout, true, Optional.empty());
  }

  private static Reply away(IOException why) {
    return new Reply.Again("cannot be reached: " + why, false, Optional.empty());
  }

  /** Makes attempts until one is answered or refused; the last may end with {@link Reply.Again}. */
  public Reply repeat(int attempts, Attempt attempt) throws InterruptedException {
    for (int number = 1; ; number++) {
      Reply reply = attempt.make(number);
      if (!(reply instanceof Reply.Again again) || number >= attempts) {
        return reply;
      }
      pause.wait(
          again
              .after
              .filter(time -> time.toMillis() <= backoff.longestMillis())
              .orElse(Duration.ofMillis(backoff.pauseMillis(number))));
    }
  }

  private static Optional<Duration> retryAfter(HttpResponse<?> response) {
    return response
        .headers()
        .firstValue("Retry-After")
        .filter(value -> value.matches("\\d{1,5}"))
        .map(value -> Duration.ofSeconds(Long.parseLong(value)));
  }

  /** The beginning of a text, on one line. */
  public static String excerpt(String text) {
    String line = text.strip().replace('\n', ' ');
    return line.length() <= EXCERPT ? line : line.substring(0, EXCERPT) + "…";
  }

  @Override
  public void close() {
    http.shutdownNow();
  }
}
