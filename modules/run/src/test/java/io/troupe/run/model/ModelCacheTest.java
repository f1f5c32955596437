package io.troupe.run.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import com.sun.net.httpserver.HttpServer;
import io.troupe.base.cache.CompletionMarker;
import io.troupe.base.files.FileTree;
import io.troupe.base.hash.Sha256;
import io.troupe.config.binding.ConfigurationFile;
import io.troupe.config.schema.Doc;
import io.troupe.config.task.DataSection;
import io.troupe.net.http.HttpDownload.Patience;
import io.troupe.testkit.FakeObjectStore;
import io.troupe.testkit.Meanwhile;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;

/** The cache before a hub and an object store of this process. */
@ResourceLock(Resources.SYSTEM_PROPERTIES)
final class ModelCacheTest {
  /** The part of a configuration that the cache needs. */
  public record Config(@Doc("Where models are.") DataSection data) {}

  private static final String COMMIT = "c0ffee";
  private static final Map<String, String> FILES =
      new TreeMap<>(
          Map.of(
              "config.json", "{}",
              "model-00001-of-00002.safetensors", "first shard",
              "model-00002-of-00002.safetensors", "second shard",
              "model.safetensors.index.json", "{\"weight_map\": {}}",
              "tokenizer.json", "{}"));

  @TempDir private Path folder;

  private final List<String> requests = new CopyOnWriteArrayList<>();
  private final List<String> said = new CopyOnWriteArrayList<>();

  /** Status codes that files are answered with, other than 200. */
  private final Map<String, Integer> faults = new ConcurrentHashMap<>();

  private HttpServer hub;
  private FakeObjectStore store;
  private String promisedSha = Sha256.hex("second shard".getBytes(StandardCharsets.UTF_8));

  @BeforeEach
  void start() throws IOException {
    store = FakeObjectStore.startWithKeys();
    hub = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    hub.createContext(
        "/",
        exchange -> {
          String path = exchange.getRequestURI().getPath();
          String range = exchange.getRequestHeaders().getFirst("Range");
          requests.add(path + (range == null ? "" : " " + range));
          String name = path.substring(path.lastIndexOf('/') + 1);
          byte[] body = body(path, name).getBytes(StandardCharsets.UTF_8);
          int from = range == null ? 0 : Integer.parseInt(range.replaceAll("\\D", ""));
          int status = faults.getOrDefault(name, body.length == 0 ? 404 : from > 0 ? 206 : 200);
          try (exchange) {
            byte[] left = Arrays.copyOfRange(body, from, body.length);
            boolean cut = status == 1;
            exchange.sendResponseHeaders(
                cut ? (from > 0 ? 206 : 200) : status, status < 300 ? left.length : -1);
            if (status < 300) {
              exchange.getResponseBody().write(left, 0, cut ? 1 : left.length);
              exchange.getResponseBody().flush();
            }
            if (cut) {
              faults.put(name, 500);
            }
          }
        });
    hub.start();
  }

  private String body(String path, String name) {
    if (path.equals("/api/models/some/model")
        || path.equals("/api/models/some/model/revision/" + COMMIT)) {
      List<String> siblings = new ArrayList<>();
      FILES.forEach(
          (file, text) ->
              siblings.add(
                  "{\"rfilename\": \"%s\", \"size\": %d%s}"
                      .formatted(
                          file,
                          text.length(),
                          file.startsWith("model-00002")
                              ? ", \"lfs\": {\"sha256\": \"%s\"}".formatted(promisedSha)
                              : "")));
      siblings.add("{\"rfilename\": \"original/consolidated.pth\", \"size\": 9}");
      siblings.add("{\"rfilename\": \"pytorch_model.bin\", \"size\": 9}");
      return "{\"sha\": \"%s\", \"siblings\": %s}".formatted(COMMIT, siblings);
    }
    return path.startsWith("/some/model/resolve/" + COMMIT) ? FILES.getOrDefault(name, "") : "";
  }

  @AfterEach
  void stop() {
    hub.stop(0);
    store.close();
  }

  private ModelCache cache(String... settings) {
    List<String> all =
        new ArrayList<>(List.of("data.s3_endpoint=" + store.endpoint(), "data.s3_path_style=true"));
    all.addAll(List.of(settings));
    DataSection data =
        ConfigurationFile.bind(Config.class, Path.of("test"), "data: {}", all).config().data();
    return new ModelCache(
        folder,
        data,
        new HubModel.HubAccess(
            "http://localhost:" + hub.getAddress().getPort(),
            "",
            new Patience(Duration.ofSeconds(5), Duration.ofMillis(1))),
        said::add);
  }

  private static void assertWhole(Path model) {
    FILES.forEach((name, text) -> assertThat(model.resolve(name)).hasContent(text));
  }

  @Test
  void folder_nameOnTheHub_fetchesTheModelsFilesOfOneCommit_once() throws IOException {
    Path model = cache().folder("some/model");

    assertWhole(model);
    assertThat(model.resolve("pytorch_model.bin")).doesNotExist();
    assertThat(model).isEqualTo(folder.resolve("some--model/main"));
    assertThat(requests).hasSize(6).contains("/some/model/resolve/c0ffee/config.json");
    assertThat(cache().folder("some/model")).isEqualTo(model);
    assertThat(requests).hasSize(6);
    assertThat(cache().list())
        .extracting(ModelCache.Cached::name, ModelCache.Cached::commit)
        .containsExactly(tuple("some/model", COMMIT));
  }

  @Test
  void list_whileAnotherModelIsReplaced_hasTheOthers() throws Exception {
    cache().folder("some/model");
    Path other = Files.createDirectories(folder.resolve("other--model")).resolve("main");
    Meanwhile.look(
        () -> {
          for (int i = 0; i < 1_000; i++) {
            Path part = Files.createDirectories(folder.resolve("other--model/main.part-s3"));
            Files.writeString(part.resolve("config.json"), "{}");
            CompletionMarker.write(part);
            FileTree.replace(other, part);
          }
          return null;
        },
        () ->
            assertThat(cache().list()).extracting(ModelCache.Cached::name).contains("some/model"));
  }

  @Test
  void folder_fetchThatWasCut_continuesWithTheMissingBytesAlone() throws IOException {
    faults.put("model-00002-of-00002.safetensors", 1); // one byte, and then errors
    assertThatThrownBy(() -> cache().folder("some/model"))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("model some/model is not to be had:")
        .hasMessageContaining("status 500, 5 times in a row")
        .hasMessageContaining("run `troupe models fetch some/model` again, which continues");
    assertThat(folder.resolve("some--model/main")).doesNotExist();
    assertThat(cache().list()).isEmpty();

    faults.clear();
    requests.clear();
    assertWhole(cache().folder("some/model"));
    assertThat(requests)
        .containsExactly(
            "/api/models/some/model/revision/" + COMMIT,
            "/some/model/resolve/c0ffee/model-00002-of-00002.safetensors bytes=1-",
            "/some/model/resolve/c0ffee/model.safetensors.index.json",
            "/some/model/resolve/c0ffee/tokenizer.json");
  }

  @Test
  void folder_otherContentThanTheHubPromises_isNotKept() throws IOException {
    String right = promisedSha;
    promisedSha = Sha256.hex(new byte[0]);
    assertThatThrownBy(() -> cache().folder("some/model"))
        .hasMessageContaining("model-00002-of-00002.safetensors")
        .hasMessageContaining("its content is not the promised one");
    promisedSha = right;
    assertWhole(cache().folder("some/model"));
  }

  @Test
  void folder_closedOrUnknownModel_saysWhereItWasSoughtAndWhatToDo() {
    faults.put("model", 401);
    assertThatThrownBy(() -> cache().folder("some/model"))
        .hasMessageContaining("status 401; set HF_TOKEN");
    assertThatThrownBy(() -> cache().folder("no/thing"))
        .hasMessageContaining("no--thing/main: not in the cache")
        .hasMessageContaining("/no/thing: not there");
    assertThatThrownBy(() -> cache("data.hub=false").folder("no/thing"))
        .hasMessageContaining("nowhere else: data.hub is false, and data.s3_models names no place");
  }

  @Test
  void description_modelsElsewhere_comeWithoutWeightsAndAreNoModels() throws IOException {
    ModelCache.Description described = cache().description("some/model");
    assertThat(described.whole()).isFalse();
    assertThat(described.folder().resolve("config.json")).exists();
    assertThat(requests).isNotEmpty().noneMatch(path -> path.endsWith(".safetensors"));
    assertThat(cache().list()).isEmpty();
    int asked = requests.size();
    assertThat(cache().description("some/model")).isEqualTo(described);
    assertThat(requests).hasSize(asked);

    FILES.forEach((name, text) -> store.put("lake/runs/7/policy/" + name, text));
    assertThat(cache().description("s3://lake/runs/7/policy").folder())
        .isDirectoryContaining("glob:**/config.json");
    assertThat(store.requests()).noneMatch(line -> line.contains("policy/model-0"));

    Path model = cache().folder("some/model");
    assertWhole(model);
    assertThat(cache().description("some/model"))
        .isEqualTo(new ModelCache.Description(model, true));
  }

  @Test
  void folder_mirrorOnTheStore_isAskedBeforeTheHub() throws IOException {
    FILES.forEach((name, text) -> store.put("lake/models/some--model/" + name, text));
    assertWhole(cache("data.s3_models=s3://lake/models/").folder("some/model"));
    assertThat(requests).isEmpty();
  }

  @Test
  void folder_addressOnTheStore_isFetchedOnce() throws IOException {
    FILES.forEach((name, text) -> store.put("lake/runs/7/policy/" + name, text));
    Path model = cache().folder("s3://lake/runs/7/policy");
    assertWhole(model);
    int asked = store.requests().size();
    assertThat(cache().folder("s3://lake/runs/7/policy/")).isEqualTo(model);
    assertThat(store.requests()).hasSize(asked);
    assertThatThrownBy(() -> cache().folder("s3://lake/runs/8/policy"))
        .hasMessageContaining("s3://lake/runs/8/policy: not there");
  }

  @Test
  void folder_existingFolder_isItself() throws IOException {
    Path own = Files.createDirectories(folder.resolve("own/model"));
    assertThat(cache().folder(own.toString())).isEqualTo(own);
    assertThat(requests).isEmpty();
  }
}
