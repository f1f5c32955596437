package io.troupe.benchmarks.console;

import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

/**
 * Reads a run's console as a browser on its page Nodes does: the event stream, and the nodes and
 * actors again and again. It waits for the console to open, and reads until it is closed.
 */
final class ConsoleReader implements AutoCloseable {
  private static final long LOOK_MILLIS = 100;
  private static final List<String> POLLED = List.of("nodes", "actors");
  private static final long POLL_MILLIS = 2_000;

  private final Path runs;
  private final HttpClient http = HttpClient.newHttpClient();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final AtomicLong lines = new AtomicLong();

  /**
   * Begins.
   *
   * @param runs the folder in which the next run will lie, alone
   */
  ConsoleReader(Path runs) {
    this.runs = runs;
    var _ = threads.submit(this::follow);
  }

  /** Lines of the event stream so far. */
  long lines() {
    return lines.get();
  }

  private long follow() throws IOException, InterruptedException {
    URI console = find();
    for (String path : POLLED) {
      var _ = threads.submit(() -> poll(console.resolve("/api/v1/" + path)));
    }
    HttpResponse<InputStream> stream =
        http.send(
            get(console.resolve("/api/v1/stream")), HttpResponse.BodyHandlers.ofInputStream());
    try (BufferedReader reader =
        new BufferedReader(new InputStreamReader(stream.body(), StandardCharsets.UTF_8))) {
      while (reader.readLine() != null) {
        lines.incrementAndGet();
      }
    }
    return lines.get();
  }

  private URI find() throws IOException, InterruptedException {
    while (true) {
      try (Stream<Path> found = Files.walk(runs, 2)) {
        Optional<Path> file =
            found
                .filter(path -> path.endsWith("console.json") && path.toFile().length() > 0)
                .findAny();
        if (file.isPresent()) {
          return URI.create(
              JsonMapper.builder().build().readTree(file.get().toFile()).required("url").asText());
        }
      }
      Thread.sleep(LOOK_MILLIS);
    }
  }

  private long poll(URI uri) throws IOException, InterruptedException {
    while (true) {
      http.send(get(uri), HttpResponse.BodyHandlers.discarding());
      Thread.sleep(POLL_MILLIS);
    }
  }

  private static HttpRequest get(URI uri) {
    return HttpRequest.newBuilder(uri).build();
  }

  @Override
  public void close() {
    threads.shutdownNow();
    http.shutdownNow();
  }
}
