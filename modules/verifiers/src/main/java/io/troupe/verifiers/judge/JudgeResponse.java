package io.troupe.verifiers.judge;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Sends a request and waits for headers and body: the HTTP client's timeout ends with the headers,
 * and a body that stalls would block a verifier forever. The body is bounded.
 */
record JudgeResponse(HttpClient client, long mostBytes) {
  /**
   * The response.
   *
   * @throws HttpTimeoutException if it is incomplete at the deadline
   * @throws IOException if it breaks off or exceeds the bound
   */
  HttpResponse<String> within(HttpRequest request, Duration limit)
      throws IOException, InterruptedException {
    CompletableFuture<HttpResponse<String>> sent =
        client.sendAsync(
            request,
            HttpResponse.BodyHandlers.limiting(
                HttpResponse.BodyHandlers.ofString(UTF_8), mostBytes));
    try {
      return sent.get(limit.toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException late) {
      throw new HttpTimeoutException("no whole reply within " + limit);
    } catch (ExecutionException failed) {
      if (failed.getCause() instanceof IOException broken) {
        throw broken;
      }
      throw new IOException(String.valueOf(failed.getCause()), failed.getCause());
    } finally {
      sent.cancel(true); // closes the connection of a late response
    }
  }
}
