package io.troupe.telemetry.export;

import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.time.Duration;

/** A server that somebody else runs, to which a run is exported. */
final class ExportClient implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final String name;
  private final URI base;
  private final HttpClient http = HttpClient.newBuilder().connectTimeout(PATIENCE).build();

  /**
   * Of an address.
   *
   * @param name what it is called in messages
   */
  ExportClient(String name, URI base) {
    this.name = name;
    this.base = base;
  }

  /**
   * Sends a request, and waits.
   *
   * @throws IOException if no answer comes; says from where
   */
  HttpResponse<byte[]> send(HttpRequest.Builder request) throws IOException, InterruptedException {
    try {
      return http.send(request.timeout(PATIENCE).build(), HttpResponse.BodyHandlers.ofByteArray());
    } catch (ConnectException gone) {
      throw new IOException(
          "%s at %s cannot be reached; start it, or correct --url".formatted(name, base), gone);
    } catch (HttpTimeoutException late) {
      throw new IOException(
          "%s at %s did not answer within %d s".formatted(name, base, PATIENCE.toSeconds()), late);
    }
  }

  @Override
  public void close() {
    http.close();
  }
}
