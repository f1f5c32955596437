package io.troupe.telemetry.export;

import io.troupe.net.http.WholeResponse;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.time.Duration;

/** A server of others to which a run is sent. */
public final class ExportClient implements AutoCloseable {
  /** The time in which a server must answer a command of a person. */
  public static final Duration PATIENCE = Duration.ofSeconds(60);

  private static final Duration CONNECT = Duration.ofSeconds(10);
  private static final int FIRST_FAILURE = 300;

  private final String name;
  private final URI base;
  private final Duration patience;
  private final HttpClient http;

  /**
   * A client of a server.
   *
   * @param name name of the server in messages
   * @param patience time that the server has for a whole answer
   */
  public ExportClient(String name, URI base, Duration patience) {
    this.name = name;
    this.base = base;
    this.patience = patience;
    this.http =
        HttpClient.newBuilder()
            .connectTimeout(patience.compareTo(CONNECT) < 0 ? patience : CONNECT)
            .build();
  }

  /**
   * Sends a request, and waits for the whole answer.
   *
   * @throws IOException if no answer comes; says from where
   */
  public HttpResponse<byte[]> send(HttpRequest.Builder request)
      throws IOException, InterruptedException {
    try {
      return WholeResponse.within(
          http, request.build(), HttpResponse.BodyHandlers.ofByteArray(), patience);
    } catch (HttpTimeoutException late) {
      throw new IOException(
          "%s at %s did not answer within %d s".formatted(name, base, patience.toSeconds()), late);
    } catch (ConnectException gone) {
      throw new IOException(
          "%s at %s cannot be reached; start it, or correct the address".formatted(name, base),
          gone);
    } catch (IOException broken) {
      throw new IOException(
          "%s at %s broke off: %s".formatted(name, base, broken.getMessage()), broken);
    }
  }

  /**
   * Returns the body of a successful answer.
   *
   * @param call name of the request
   * @throws ServerRefusedException if the answer is none
   */
  public byte[] accepted(String call, HttpResponse<byte[]> answer) throws ServerRefusedException {
    if (answer.statusCode() >= FIRST_FAILURE) {
      throw new ServerRefusedException(name, base, call, answer);
    }
    return answer.body();
  }

  @Override
  public void close() {
    http.shutdownNow(); // A server that does not answer holds nothing up.
  }
}
