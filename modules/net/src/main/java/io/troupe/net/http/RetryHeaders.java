package io.troupe.net.http;

import com.sun.net.httpserver.Headers;
import java.util.Set;

/**
 * Says in a refusal whether asking again can help: clients of OpenAI and Anthropic repeat a request
 * by its status, 409 too, unless {@code x-should-retry} says otherwise.
 */
public final class RetryHeaders {
  private static final String AFTER_SECONDS = "1";
  private static final int NOT_IMPLEMENTED = 501;

  /** The server is busy, or not ready yet. */
  private static final Set<Integer> LATER = Set.of(429, 503);

  private RetryHeaders() {}

  /** Sets the headers of a refusal by its status. */
  public static void set(Headers headers, int status) {
    if (LATER.contains(status)) {
      headers.set("Retry-After", AFTER_SECONDS);
    } else if (status < 500 || status == NOT_IMPLEMENTED) {
      refuse(headers);
    }
  }

  /** Says that the same request will be refused again. */
  public static void refuse(Headers headers) {
    headers.set("x-should-retry", "false");
  }
}
