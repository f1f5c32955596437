package io.troupe.telemetry.export;

import io.troupe.base.text.SafeText;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** A server answered a request with a status that is no success. */
public final class ServerRefusedException extends IOException {
  private static final long serialVersionUID = 1L;
  private static final long LONGEST_SECONDS = 600;

  private final int status;
  private final Duration pause;

  /**
   * Describes an answer.
   *
   * @param server name of the server in messages
   * @param call name of the request
   */
  ServerRefusedException(String server, URI base, String call, HttpResponse<byte[]> answer) {
    super(
        "%s at %s answered %s with status %d: %s"
            .formatted(
                server,
                base,
                call,
                answer.statusCode(),
                SafeText.of(new String(answer.body(), StandardCharsets.UTF_8))));
    this.status = answer.statusCode();
    this.pause = pause(answer.headers().firstValue("Retry-After").orElse(""));
  }

  public int status() {
    return status;
  }

  /**
   * Returns the time for which the server asks its client to wait, at most ten minutes; zero if it
   * does not ask.
   */
  public Duration pause() {
    return pause;
  }

  private static Duration pause(String retryAfter) {
    return retryAfter.matches("\\d{1,9}")
        ? Duration.ofSeconds(Math.min(LONGEST_SECONDS, Long.parseLong(retryAfter)))
        : Duration.ZERO;
  }
}
