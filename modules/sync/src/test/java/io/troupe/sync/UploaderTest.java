package io.troupe.sync;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.base.files.FileTree;
import io.troupe.base.hash.Sha256;
import io.troupe.store.checkpoint.CheckpointManifest;
import io.troupe.store.checkpoint.Checkpoints;
import io.troupe.store.folder.RunFolder;
import io.troupe.store.objects.ObjectStoreException;
import io.troupe.store.objects.PutCondition;
import io.troupe.sync.plan.RemoteCheckpoint;
import io.troupe.sync.plan.RemoteFile;
import io.troupe.sync.plan.RemoteIndex;
import io.troupe.sync.plan.SyncPlan;
import io.troupe.sync.plan.UploadSizes;
import io.troupe.testkit.Await;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A run folder that changes, its copy, and processes that end between any two requests. */
final class UploaderTest {
  private static final String TARGET = "s3://lake/runs/run/";
  private static final UploadSizes SIZES = new UploadSizes(16, 8);

  @TempDir private Path temporary;

  private RunFolder folder;

  @BeforeEach
  void create() throws IOException {
    folder =
        RunFolder.create(
            temporary.resolve("runs"),
            "run",
            LocalDateTime.of(2026, 1, 2, 3, 4),
            new RunFolder.Contents("a: 1\n".getBytes(UTF_8), "a: 1\n", Map.of("pid", 7), ""));
    Files.writeString(folder.journal().resolve("000001.journal"), "first");
    Files.writeString(folder.journal().resolve("lock"), "");
    Files.writeString(folder.path().resolve("console.json"), "{\"token\": \"secret\"}");
  }

  private Uploader open(MemoryStore store) throws IOException {
    return Uploader.open(folder, store, TARGET, SIZES, false);
  }

  private static void drain(Uploader uploader) throws IOException {
    uploader.look();
    while (uploader.step() >= 0) {}
  }

  private void append(Path file, String text) throws IOException {
    Files.writeString(file, text, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
  }

  private void save(long step, String weights) throws IOException {
    Checkpoints.open(folder.checkpoints())
        .save(
            step,
            into -> {
              Files.writeString(into.resolve("weights"), weights);
              Files.writeString(into.resolve("state.json"), "{\"step\": %d}".formatted(step));
            });
  }

  /** Files of a folder that a copy must bring to another host. */
  private static Map<String, String> content(Path run) throws IOException {
    Map<String, String> content = new TreeMap<>();
    try (Stream<Path> files = Files.walk(run)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        String path = run.relativize(file).toString();
        if (!path.startsWith("sync/")
            && !path.equals("journal/lock")
            && !path.equals("console.json")) {
          content.put(path, Files.readString(file));
        }
      }
    }
    return content;
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twenty")
  void step_processesThatEndAnywhere_indexNamesOnlyWhatIsThere_andAllArrives(long seed)
      throws IOException {
    RandomGenerator random = new Random(seed);
    MemoryStore store = new MemoryStore(random).trouble(0.05);
    long saved = 0;
    for (int round = 0; round < 6; round++) {
      saved = change(random, saved);
      try {
        Uploader uploader = open(store);
        uploader.look();
        for (int i = random.nextInt(30); i > 0; i--) {
          try {
            uploader.step();
          } catch (ObjectStoreException outage) {
            assertThat(outage.kind()).isEqualTo(ObjectStoreException.Kind.UNAVAILABLE);
          }
          checkIndex(store);
        }
      } catch (MemoryStore.Killed end) {
        checkIndex(store);
      }
    }
    store.trouble(0);
    Uploader uploader = open(store);
    drain(uploader);
    checkIndex(store);
    assertThat(uploader.backlog()).isEqualTo(SyncPlan.Backlog.NONE);
    assertThat(store.objects.keySet())
        .as("nothing is stored that the index does not name")
        .allMatch(
            key ->
                key.equals(RemoteIndex.KEY)
                    || index(store).keys().stream().anyMatch(key::startsWith));
    assertThat(content(download(store, "other"))).isEqualTo(newestOnly());
  }

  /** A run folder changes as runs change it; returns the last step saved. */
  private long change(RandomGenerator random, long saved) throws IOException {
    long step = saved;
    for (int i = random.nextInt(4); i >= 0; i--) {
      switch (random.nextInt(7)) {
        case 0 -> append(folder.metrics(), "x".repeat(random.nextInt(40)));
        case 1 -> append(folder.journal().resolve("000001.journal"), "record " + i);
        case 2 -> Files.writeString(folder.metrics(), "cut" + random.nextInt(9));
        case 3 ->
            Files.writeString(folder.journal().resolve("00000%d.journal".formatted(2 + i)), "");
        case 4 -> Checkpoints.open(folder.checkpoints()).keepLast(1);
        case 5 -> {
          step = Math.max(0, step - random.nextInt(2));
          save(step, "again".repeat(random.nextInt(20)));
        }
        default -> save(++step, "w".repeat(random.nextInt(60)));
      }
    }
    return step;
  }

  private static byte[] content(MemoryStore store, String key) {
    return store.objects.getOrDefault(key, new byte[0]);
  }

  private static RemoteIndex index(MemoryStore store) {
    try {
      return RemoteIndex.parse(content(store, RemoteIndex.KEY), "index");
    } catch (IOException damaged) {
      throw new AssertionError(damaged);
    }
  }

  private static void checkIndex(MemoryStore store) throws IOException {
    if (!store.objects.containsKey(RemoteIndex.KEY)) {
      return;
    }
    for (RemoteFile file : index(store).files()) {
      List<String> keys = file.keys();
      for (int i = 0; i < keys.size(); i++) {
        assertThat(store.objects).containsKey(keys.get(i));
        assertThat(Sha256.hex(content(store, keys.get(i))))
            .isEqualTo(file.pieces().get(i).sha256());
      }
    }
    for (RemoteCheckpoint one : index(store).checkpoints()) {
      assertThat(Sha256.hex(content(store, one.folder() + "manifest.json")))
          .isEqualTo(one.manifest());
    }
  }

  private Path download(MemoryStore store, String root) throws IOException {
    return new RunDownload(store, TARGET, _ -> {})
        .into(temporary.resolve(root), RunDownload.Checkpoints.NEWEST);
  }

  private Map<String, String> newestOnly() throws IOException {
    Map<String, String> expected = content(folder.path());
    long newest =
        Checkpoints.view(folder.checkpoints()).list().newest().map(one -> one.step()).orElse(-1L);
    expected
        .keySet()
        .removeIf(
            path ->
                path.startsWith("checkpoints/")
                    && !path.startsWith("checkpoints/step%d/".formatted(newest)));
    return expected;
  }

  @Test
  void download_copyOfRun_bringsEachByte_andNoSecret() throws IOException {
    save(1, "one".repeat(30));
    save(2, "two".repeat(30));
    append(folder.metrics(), "m".repeat(50));
    MemoryStore store = new MemoryStore(new Random(1));
    drain(open(store));

    Path there = download(store, "other");

    assertThat(content(there)).isEqualTo(newestOnly()).containsKey("metrics.jsonl");
    assertThat(CheckpointManifest.read(there.resolve("checkpoints/step2")).step()).isEqualTo(2);
    assertThat(there.resolve("console.json")).doesNotExist();
    assertThatThrownBy(() -> download(store, "other")).hasMessageContaining("is there already");
  }

  @Test
  void step_runThatMovedToAnotherHost_refusesTheFormerOne() throws IOException {
    MemoryStore store = new MemoryStore(new Random(1));
    Uploader former = open(store);
    drain(former);
    RunFolder moved = RunFolder.open(temporary, download(store, "other").toString());
    Uploader next = Uploader.open(moved, store, TARGET, SIZES, false);
    drain(next);
    RemoteIndex taken = index(store);

    append(folder.metrics(), "of the former");
    assertThatThrownBy(() -> drain(former))
        .isInstanceOf(CopyTakenException.class)
        .hasMessageContaining("another run folder writes s3://lake/runs/run/ (revision 2)");

    assertThat(index(store)).isEqualTo(taken);
    drain(Uploader.open(folder, store, TARGET, SIZES, true));
    assertThat(content(download(store, "third"))).isEqualTo(content(folder.path()));
  }

  @Test
  void open_placeOfAnotherRun_isRefused() throws IOException {
    MemoryStore store = new MemoryStore(new Random(1));
    drain(open(store));
    FileTree.delete(folder.path().resolve("sync"));

    assertThatThrownBy(() -> open(store))
        .isInstanceOf(CopyTakenException.class)
        .hasMessageContaining("holds a copy that this folder has not written");
  }

  @Test
  void step_checkpointThatIsDamaged_isLeftOut_andTheRestArrives() throws IOException {
    save(1, "w".repeat(40));
    Files.writeString(folder.checkpoints().resolve("step1/weights"), "v".repeat(40));
    MemoryStore store = new MemoryStore(new Random(1));

    drain(open(store));

    assertThat(index(store).checkpoints()).isEmpty();
    assertThat(index(store).files()).extracting(RemoteFile::path).contains("config.yaml");
    assertThat(store.objects.keySet()).noneMatch(key -> key.startsWith("checkpoints/"));
  }

  @Test
  void step_checkpointDeletedByRetentionOnItsWay_arrivesAllTheSame() throws IOException {
    save(1, "w".repeat(40));
    MemoryStore store = new MemoryStore(new Random(1));
    Uploader uploader = open(store);
    uploader.look();
    while (uploader.state().upload().isEmpty()) {
      uploader.step();
    }
    FileTree.delete(folder.checkpoints().resolve("step1"));

    while (uploader.step() >= 0) {}

    assertThat(index(store).newest()).map(RemoteCheckpoint::step).contains(1L);
    assertThat(download(store, "other").resolve("checkpoints/step1/weights"))
        .hasContent("w".repeat(40));
    assertThat(folder.path().resolve("sync/held")).doesNotExist();
  }

  @Test
  void start_filesThatGrowFasterThanTheStoreTakesThem_checkpointArrivesAllTheSame()
      throws IOException {
    save(1, "w".repeat(40));
    CountDownLatch arrived = new CountDownLatch(1);
    MemoryStore store =
        new MemoryStore(new Random(1))
            .onPut(
                key -> {
                  growAll();
                  if (key.endsWith("/manifest.json")) {
                    arrived.countDown();
                  }
                });
    SyncSettings always = new SyncSettings(Duration.ofNanos(1), 0, Duration.ofSeconds(1));

    try (RunSync _ = RunSync.start(folder, store, TARGET, always, false, _ -> {})) {
      Await.until("the checkpoint on the server", () -> arrived.getCount() == 0);
    }
  }

  private void growAll() {
    try {
      append(folder.metrics(), "m");
      append(folder.journal().resolve("000001.journal"), "j");
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  @Test
  void into_objectThatWasChanged_isRefused() throws IOException {
    MemoryStore store = new MemoryStore(new Random(1));
    drain(open(store));
    String key = index(store).files().getFirst().keys().getFirst();
    store.put(key, "other".getBytes(UTF_8), new PutCondition.Always());

    assertThatThrownBy(() -> download(store, "other"))
        .hasMessageContaining(TARGET + key)
        .hasMessageContaining("download it again");
  }

  @Test
  void pace_bytes_takeTheirTime() {
    Pace pace = new Pace(1_000, 0);

    assertThat(pace.sent(0, 500).pauseNanos(0)).isEqualTo(500_000_000L);
    assertThat(pace.sent(0, 500).sent(100_000_000L, 500).pauseNanos(100_000_000L))
        .isEqualTo(900_000_000L);
    assertThat(pace.sent(0, 500).pauseNanos(600_000_000L)).isZero();
    assertThat(new Pace(0, 0).sent(0, 1L << 40).pauseNanos(0)).isZero();
  }

  @Test
  void partOf_largeFile_needsAtMostTenThousandParts() {
    long mib = 1L << 20;

    assertThat(UploadSizes.S3.partOf(100 * mib)).isEqualTo(8 * mib);
    assertThat(UploadSizes.S3.partOf(80_000 * mib)).isEqualTo(8 * mib);
    assertThat(UploadSizes.S3.partOf(80_001 * mib)).isEqualTo(9 * mib);
  }
}
