package io.troupe.tasks.fetch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import io.troupe.base.cache.CompletionMarker;
import io.troupe.net.http.HttpDownload.Patience;
import io.troupe.tasks.rows.TaskDataException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The cache before a hub of this process. */
final class DataCacheTest {
  private static final SplitRef WANTED = new SplitRef("own", "some/set", "", "train");

  @TempDir private Path folder;

  private final List<String> requests = Collections.synchronizedList(new ArrayList<>());
  private HttpServer server;

  @BeforeEach
  void start() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    answer(
        "/api/datasets/some/set",
        200,
        """
        {"siblings": [{"rfilename": "README.md"}, {"rfilename": "data/train-0.jsonl"},
         {"rfilename": "data/test-0.jsonl"}, {"rfilename": "dataset_info.json"}]}
        """);
    answer("/datasets/some/set/resolve/main/README.md", 200, "# A card");
    answer("/datasets/some/set/resolve/main/data/train-0.jsonl", 200, "{\"a\": 1}\n");
    server.start();
  }

  @AfterEach
  void stop() {
    server.stop(0);
  }

  private void answer(String path, int status, String body) {
    server.createContext(
        path,
        exchange -> {
          requests.add(
              exchange.getRequestURI()
                  + " "
                  + exchange.getRequestHeaders().getOrDefault("Authorization", List.of("-")));
          byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(status, bytes.length);
          exchange.getResponseBody().write(bytes);
          exchange.close();
        });
  }

  private String endpoint() {
    return "http://localhost:" + server.getAddress().getPort();
  }

  private DataCache cache(String token) {
    return new DataCache(folder, List.of(new HubOrigin(endpoint(), token)), _ -> {});
  }

  @Test
  void folder_firstTime_fetchesTheSplitAlone_andThenAsksNobody() throws IOException {
    Path first = cache("secret").folder(WANTED);
    Path second = cache("secret").folder(WANTED);

    assertThat(second).isEqualTo(first);
    assertThat(DataFolder.files(first, "", "train"))
        .containsExactly(first.resolve("data/train-0.jsonl"));
    assertThat(requests)
        .containsExactly(
            "/api/datasets/some/set?blobs=true [Bearer secret]",
            "/datasets/some/set/resolve/main/README.md [Bearer secret]",
            "/datasets/some/set/resolve/main/data/train-0.jsonl [Bearer secret]");
  }

  @Test
  void folder_withoutItsMarkerOrWithACutFile_isFetchedAgain() throws IOException {
    Path first = cache("").folder(WANTED);
    Files.writeString(first.resolve("data/train-0.jsonl"), "{");
    cache("").folder(WANTED);
    assertThat(first.resolve("data/train-0.jsonl")).hasContent("{\"a\": 1}\n");

    Files.delete(first.resolve(CompletionMarker.NAME));
    cache("").folder(WANTED);

    assertThat(requests).hasSize(9);
    try (var left = Files.list(first.getParent())) {
      assertThat(left.map(file -> file.getFileName().toString()))
          .containsExactlyInAnyOrder("train", "train.lock");
    }
  }

  private interface Fetching {
    void into(Path folder) throws IOException;
  }

  private static DataOrigin origin(Fetching fetching) {
    return new DataOrigin() {
      @Override
      public String place(SplitRef wanted) {
        return "here";
      }

      @Override
      public boolean fetch(SplitRef wanted, Path into) throws IOException {
        fetching.into(into);
        return true;
      }
    };
  }

  @Test
  void folder_manyAtOnce_isFetchedOnce() throws Exception {
    AtomicInteger fetched = new AtomicInteger();
    DataOrigin origin =
        origin(
            into -> {
              fetched.incrementAndGet();
              Files.writeString(into.resolve("train.jsonl"), "{}");
            });
    List<Callable<Path>> starts =
        Collections.nCopies(
            16, () -> new DataCache(folder, List.of(origin), _ -> {}).folder(WANTED));
    try (ExecutorService threads = Executors.newFixedThreadPool(16)) {
      for (Future<Path> each : threads.invokeAll(starts)) {
        assertThat(each.get().resolve("train.jsonl")).exists();
      }
    }
    assertThat(fetched).hasValue(1);
  }

  @Test
  void folder_whileItIsBeingFetched_saysThatItWaits() throws Exception {
    CountDownLatch fetching = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    DataOrigin origin =
        origin(
            into -> {
              fetching.countDown();
              try {
                goOn.await();
              } catch (InterruptedException stop) {
                throw new IOException(stop);
              }
              Files.writeString(into.resolve("train.jsonl"), "{}");
            });
    List<String> said = new CopyOnWriteArrayList<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(1)) {
      Future<Path> first =
          threads.submit(() -> new DataCache(folder, List.of(origin), said::add).folder(WANTED));
      fetching.await();
      Path second =
          new DataCache(
                  folder,
                  List.of(origin),
                  message -> {
                    said.add(message);
                    goOn.countDown(); // it waits until somebody has said so
                  })
              .folder(WANTED);
      assertThat(second).isEqualTo(first.get());
    }
    assertThat(said)
        .singleElement()
        .asString()
        .endsWith("is being fetched by this process; waiting for it");
  }

  /** However long a file takes, as long as it moves. */
  @Test
  @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void folder_downloadThatStalls_isGivenUp() {
    server.createContext(
        "/datasets/slow/set/resolve/main/data/train-0.jsonl",
        exchange -> {
          exchange.sendResponseHeaders(200, 500);
          exchange.getResponseBody().write('{');
          exchange.getResponseBody().flush();
        });
    answer(
        "/api/datasets/slow/set", 200, "{\"siblings\": [{\"rfilename\": \"data/train-0.jsonl\"}]}");
    DataCache impatient =
        new DataCache(
            folder,
            List.of(
                new HubOrigin(
                    endpoint(), "", new Patience(Duration.ofMillis(200), Duration.ofMillis(1)))),
            _ -> {});
    assertThatThrownBy(() -> impatient.folder(new SplitRef("x", "slow/set", "", "train")))
        .isInstanceOf(TaskDataException.class)
        .hasMessageContaining("nothing came for PT0.2S");
  }

  @Test
  void folder_nowhere_saysWhereItWasLookedForAndWhatToDo() {
    answer("/api/datasets/no/set", 404, "");
    answer("/api/datasets/closed/set", 401, "");

    assertThatThrownBy(() -> cache("").folder(new SplitRef("x", "no/set", "", "train")))
        .isInstanceOf(TaskDataException.class)
        .hasMessageContaining("train: not in the cache")
        .hasMessageContaining(endpoint() + "/datasets/no/set: not there")
        .hasMessageContaining("name their folder in task.file");
    assertThatThrownBy(() -> cache("").folder(new SplitRef("x", "closed/set", "", "train")))
        .hasMessageContaining("status 401; set HF_TOKEN");
  }

  @Test
  void files_folderWithoutTheSplit_saysWhatItHas() throws IOException {
    Path data = Files.createDirectories(folder.resolve("data"));
    assertThatThrownBy(() -> DataFolder.files(data, "", "test"))
        .hasMessageContaining(
            "it has none at all (.parquet, .arrow, .json, .jsonl, .ndjson, .csv,");
    Files.writeString(data.resolve("README.md"), "rows");
    Files.writeString(data.resolve("input_data.jsonl"), "{}");
    assertThatThrownBy(() -> DataFolder.files(data, "", "test"))
        .hasMessage(
            "%s: the folder has no data file of split test; it has input_data.jsonl, named after no"
                + " split, which counts as train; give the path of the file itself, which serves"
                + " any split",
            data);
    Files.writeString(data.resolve("train.jsonl"), "{}");
    assertThatThrownBy(() -> DataFolder.files(data, "", "test"))
        .hasMessageEndingWith("it has the splits [train]");
  }
}
