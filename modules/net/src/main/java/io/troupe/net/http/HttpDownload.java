package io.troupe.net.http;

import io.troupe.base.failure.Causes;
import io.troupe.base.hash.Sha256;
import io.troupe.core.outage.Backoff;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpResponse.BodySubscribers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Fetches files by plain GETs, whole or not at all.
 *
 * <p>A file grows under another name, takes its own when it is whole, and is continued from its
 * last byte after a failure, also by a later process. Failures of the server and of the connection
 * are tried again after a pause, as long as bytes come between them; refusals are not. This class
 * follows redirections itself, so that the token reaches only the host it is for.
 */
public final class HttpDownload {
  /** The end of the name of a file that is not whole. */
  public static final String UNFINISHED = ".unfinished";

  private static final int REDIRECTIONS = 5;
  private static final int TRIES = 5;
  private static final int OK = 200;
  private static final int PARTIAL = 206;
  private static final int TOO_MANY_REQUESTS = 429;
  private static final int RANGE_REFUSED = 416;

  private final HttpClient client =
      HttpClient.newBuilder()
          .followRedirects(HttpClient.Redirect.NEVER)
          .connectTimeout(Duration.ofSeconds(20))
          .build();
  private final String tokenHost;
  private final String token;
  private final Patience patience;

  /**
   * The time limits of downloads.
   *
   * @param stall longest time without a byte; a whole file may take any time
   * @param firstPause before the second try in a row; later ones are longer
   */
  public record Patience(Duration stall, Duration firstPause) {
    /** The patience that suits public servers. */
    public static final Patience USUAL =
        new Patience(Duration.ofSeconds(60), Duration.ofSeconds(1));
  }

  /**
   * A server's description of a file before it is fetched.
   *
   * @param size bytes; negative if it does not say
   * @param sha256 64 hexadecimal digits; empty if it does not say
   */
  public record Expected(long size, String sha256) {
    public static final Expected NOTHING = new Expected(-1, "");
  }

  /** A server's answer that another try does not change. */
  public static final class RefusedException extends IOException {
    private static final long serialVersionUID = 1;
    private final int status;

    RefusedException(String message, int status) {
      super(message);
      this.status = status;
    }

    /** The status code of the answer. */
    public int status() {
      return status;
    }
  }

  /**
   * Creates downloads that show a token to one host.
   *
   * @param tokenHost authority of its addresses, such as {@code huggingface.co}
   * @param token empty means none
   */
  public HttpDownload(String tokenHost, String token, Patience patience) {
    this.tokenHost = tokenHost;
    this.token = token;
    this.patience = patience;
  }

  /** Creates downloads without a token. */
  public static HttpDownload plain() {
    return new HttpDownload("", "", Patience.USUAL);
  }

  /**
   * Returns the content of a small file; nothing if the server does not have it.
   *
   * @param most bytes
   */
  public Optional<byte[]> read(URI address, long most) throws IOException {
    return tried(
        () -> {
          HttpResponse<Optional<byte[]>> response =
              get(address, 0, BodyHandlers.limiting(BodyHandlers.ofByteArray(), most));
          return response.body();
        },
        () -> 0);
  }

  /** Fetches a file of which nothing is known. */
  public void fetch(URI address, Path file) throws IOException {
    fetch(address, file, Expected.NOTHING);
  }

  /**
   * Fetches a file, or what is missing of it.
   *
   * @throws RefusedException if the server does not have it or does not give it
   * @throws IOException if it does not come whole, or is not what the server promised
   */
  public void fetch(URI address, Path file, Expected expected) throws IOException {
    Path part = file.resolveSibling(file.getFileName() + UNFINISHED);
    tried(
        () -> {
          append(address, part, expected);
          return part;
        },
        () -> size(part));
    if (!expected.sha256().isEmpty() && !Sha256.hex(part).equals(expected.sha256())) {
      Files.delete(part);
      throw new IOException(
          "%s: its content is not the promised one (SHA-256 %s); it was discarded"
              .formatted(address, expected.sha256()));
    }
    Files.move(part, file);
  }

  private void append(URI address, Path part, Expected expected) throws IOException {
    long have = size(part);
    if (expected.size() >= 0 && have > expected.size()) {
      Files.delete(part);
      have = 0;
    }
    if (have > 0 && have == expected.size()) {
      return;
    }
    HttpResponse<Optional<Path>> response;
    try {
      response =
          get(
              address,
              have,
              info ->
                  BodyHandlers.ofFile(
                          part,
                          StandardOpenOption.CREATE,
                          StandardOpenOption.WRITE,
                          info.statusCode() == PARTIAL
                              ? StandardOpenOption.APPEND
                              : StandardOpenOption.TRUNCATE_EXISTING)
                      .apply(info));
    } catch (RefusedException refused) {
      if (refused.status() == RANGE_REFUSED) {
        Files.delete(part);
        throw new IOException(address + ": it has changed on the server", refused);
      }
      throw refused;
    }
    if (response.body().isEmpty()) {
      throw new RefusedException(address + ": it is listed and not there", response.statusCode());
    }
    long whole = expected.size() >= 0 ? expected.size() : promised(response, have);
    if (whole >= 0 && Files.size(part) != whole) {
      throw new IOException("%s: %d of %d bytes came".formatted(address, Files.size(part), whole));
    }
  }

  private static long promised(HttpResponse<?> response, long have) {
    OptionalLong length = response.headers().firstValueAsLong("content-length");
    if (length.isEmpty()) {
      return -1;
    }
    return response.statusCode() == PARTIAL ? have + length.getAsLong() : length.getAsLong();
  }

  private static long size(Path file) throws IOException {
    return Files.exists(file) ? Files.size(file) : 0;
  }

  private interface Try<T> {
    T run() throws IOException;
  }

  private interface Progress {
    long bytes() throws IOException;
  }

  private <T> T tried(Try<T> attempt, Progress progress) throws IOException {
    long reached = progress.bytes();
    for (int failures = 1; ; failures++) {
      try {
        return attempt.run();
      } catch (RefusedException | InterruptedIOException noUse) {
        throw noUse;
      } catch (IOException failure) {
        long now = progress.bytes();
        failures = now > reached ? 1 : failures;
        reached = now;
        if (failures == TRIES) {
          throw new IOException(
              "%s, %d times in a row".formatted(Causes.message(failure), TRIES), failure);
        }
        pause(failures);
      }
    }
  }

  private void pause(int failures) throws InterruptedIOException {
    long first = patience.firstPause().toMillis();
    try {
      Thread.sleep(new Backoff(first, first << TRIES).pauseMillis(failures, Math.random()));
    } catch (InterruptedException stopped) {
      throw interrupted(stopped);
    }
  }

  private static InterruptedIOException interrupted(InterruptedException stopped) {
    Thread.currentThread().interrupt();
    InterruptedIOException interrupted = new InterruptedIOException("interrupted");
    interrupted.initCause(stopped);
    return interrupted;
  }

  /** Returns the response, empty if the server does not have the address. */
  private <T> HttpResponse<Optional<T>> get(URI first, long from, BodyHandler<T> handler)
      throws IOException {
    URI address = first;
    for (int i = 0; i <= REDIRECTIONS; i++) {
      HttpRequest.Builder request = HttpRequest.newBuilder(address).GET();
      if (!token.isEmpty() && tokenHost.equals(address.getAuthority())) {
        request.header("Authorization", "Bearer " + token);
      }
      if (from > 0) {
        request.header("Range", "bytes=%d-".formatted(from));
      }
      HttpResponse<Optional<T>> response = send(request.build(), handler);
      int status = response.statusCode();
      if (status == OK || status == PARTIAL || status == 404) {
        return response;
      }
      if (status < 300 || status >= 400) {
        throw refusal(address, status);
      }
      String next = response.headers().firstValue("location").orElse("");
      if (next.isEmpty()) {
        throw new RefusedException(
            "%s: status %d without a location".formatted(address, status), status);
      }
      address = address.resolve(next);
    }
    throw new RefusedException("%s: more than %d redirections".formatted(first, REDIRECTIONS), 0);
  }

  private IOException refusal(URI address, int status) {
    String message = "%s: status %d".formatted(address, status);
    return status >= 500 || status == TOO_MANY_REQUESTS
        ? new IOException(message)
        : new RefusedException(message, status);
  }

  private <T> HttpResponse<Optional<T>> send(HttpRequest request, BodyHandler<T> handler)
      throws IOException {
    try {
      return WholeResponse.whileProgressing(
          client,
          request,
          info ->
              info.statusCode() == OK || info.statusCode() == PARTIAL
                  ? BodySubscribers.mapping(handler.apply(info), Optional::of)
                  : BodySubscribers.replacing(Optional.empty()),
          patience.stall());
    } catch (InterruptedException stopped) {
      throw interrupted(stopped);
    }
  }
}
