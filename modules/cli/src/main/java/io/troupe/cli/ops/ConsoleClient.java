package io.troupe.cli.ops;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.troupe.base.failure.Closing;
import io.troupe.console.ConsoleServer;
import io.troupe.console.ConsoleSettings;
import io.troupe.run.console.ConsoleFile;
import io.troupe.run.console.FolderRun;
import io.troupe.store.folder.RunFolder;
import java.io.Closeable;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** The API of a run's console, as the command line reads it. */
public final class ConsoleClient implements AutoCloseable {
  private static final Path RUNS = Path.of("runs");
  private static final Duration PATIENCE = Duration.ofSeconds(15);
  private static final Duration SLOW = Duration.ofSeconds(30);
  public static final ObjectMapper JSON = JsonMapper.builder().build();

  private final URI base;
  private final String token;
  private final HttpClient http;
  private final List<Closeable> opened;

  private ConsoleClient(ConsoleFile file, List<Closeable> opened) throws IOException {
    this.opened = opened;
    this.base = file.url();
    this.token = file.operatorToken();
    HttpClient.Builder builder = HttpClient.newBuilder().connectTimeout(PATIENCE);
    if (file.certificate().isPresent()) {
      builder.sslContext(trusting(file.certificate().get()));
    }
    this.http = builder.build();
  }

  /** Trusts the console's own certificate, whatever authority signed it, and no other. */
  private static SSLContext trusting(Certificate certificate) throws IOException {
    try {
      KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
      store.load(null, null);
      store.setCertificateEntry("console", certificate);
      TrustManagerFactory trust =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(store);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, trust.getTrustManagers(), null);
      return context;
    } catch (GeneralSecurityException e) {
      throw new IOException("the console's certificate cannot be used: " + e.getMessage(), e);
    }
  }

  /**
   * Finds the console of a run.
   *
   * @param run folder or name of the run; "" for the newest under {@code runs/} whose process is
   *     there
   * @param readsFolders whether a console over the folder of a named run will do, where its process
   *     has none open
   * @throws IOException if there is none; says what to do
   */
  static ConsoleClient find(String run, boolean readsFolders) throws IOException {
    List<String> names = run.isEmpty() ? RunFolder.list(RUNS) : List.of(run);
    for (String name : names) {
      Path folder = Files.isDirectory(RUNS.resolve(name)) ? RUNS.resolve(name) : Path.of(name);
      Optional<ConsoleFile> file = ConsoleFile.read(folder);
      if (file.isPresent()) {
        return new ConsoleClient(file.get(), List.of());
      }
    }
    if (run.isEmpty()) {
      throw new IOException(
          "no run under runs/ has a console open now. Start one with troupe train, name one that"
              + " has ended, or look at it with troupe console RUN");
    }
    RunFolder folder = RunFolder.view(RUNS, run);
    if (readsFolders && !folder.isSupervised()) {
      return overFolder(folder);
    }
    throw new IOException(
        "the run %s has no console open now: its process is gone, or console.enabled is false. Look at its folder with troupe console %s"
            .formatted(run, run));
  }

  /** Opens a console on a folder, which ends with the client. */
  private static ConsoleClient overFolder(RunFolder folder) throws IOException {
    FolderRun source = FolderRun.open(folder);
    try {
      ConsoleServer server = ConsoleServer.start(ConsoleSettings.loopback(0), source);
      return new ConsoleClient(
          new ConsoleFile(server.address(), "", Optional.empty(), ProcessHandle.current().pid()),
          List.of(server::close, source::close));
    } catch (IOException noPort) {
      source.close();
      throw noPort;
    }
  }

  /** Whether a word names a run that is there. */
  static boolean isRun(String word) {
    return !word.isBlank()
        && Stream.of(RUNS.resolve(word), Path.of(word))
            .anyMatch(folder -> Files.isRegularFile(folder.resolve("run.json")));
  }

  /** Whether the run's own process answers. */
  boolean isLive() {
    return opened.isEmpty();
  }

  URI base() {
    return base;
  }

  JsonNode get(String path) throws IOException, InterruptedException {
    return get(path, PATIENCE);
  }

  /** A value for a query. */
  static String encoded(String value) {
    return URLEncoder.encode(value, StandardCharsets.UTF_8);
  }

  /** An answer that is plain text. */
  String text(String path) throws IOException, InterruptedException {
    return new String(
        bytes(HttpRequest.newBuilder(base.resolve("/api/v1" + path)).GET(), SLOW),
        StandardCharsets.UTF_8);
  }

  JsonNode get(String path, Duration patience) throws IOException, InterruptedException {
    return answer(HttpRequest.newBuilder(base.resolve("/api/v1" + path)).GET(), patience);
  }

  JsonNode order(Map<String, ?> body) throws IOException, InterruptedException {
    return answer(
        HttpRequest.newBuilder(base.resolve("/api/v1/orders"))
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofByteArray(JSON.writeValueAsBytes(body))),
        PATIENCE);
  }

  private JsonNode answer(HttpRequest.Builder request, Duration patience)
      throws IOException, InterruptedException {
    return JSON.readTree(bytes(request, patience));
  }

  private byte[] bytes(HttpRequest.Builder request, Duration patience)
      throws IOException, InterruptedException {
    request.header("X-Troupe-Console", "1"); // which no foreign page can send
    try {
      HttpResponse<byte[]> response =
          http.send(
              request.header("Authorization", "Bearer " + token).timeout(patience).build(),
              HttpResponse.BodyHandlers.ofByteArray());
      if (response.statusCode() >= 400) {
        throw new IOException(
            JSON.readTree(response.body()).path("error").asText("status " + response.statusCode()));
      }
      return response.body();
    } catch (ConnectException gone) {
      throw new IOException(
          "the console at %s does not answer: the run has ended. Look at it with troupe console RUN"
              .formatted(base),
          gone);
    }
  }

  @Override
  public void close() {
    http.close();
    opened.forEach(Closing::quietly);
  }
}
