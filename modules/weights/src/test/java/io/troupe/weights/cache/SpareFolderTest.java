package io.troupe.weights.cache;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.base.files.FileTree;
import io.troupe.core.weights.WeightVersion;
import io.troupe.testkit.Await;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Memory that a cache makes ahead; {@code /dev/shm} is a file system in memory on every Linux. */
final class SpareFolderTest {
  private static final int BYTES = 3 << 20;

  private Path folder;
  private WeightCache cache;

  @BeforeEach
  void open() throws IOException {
    folder = Files.createTempDirectory(Path.of("/dev/shm"), "spare-folder-test-");
    cache = cache("receiver", 0);
  }

  @AfterEach
  void close() throws IOException {
    cache.close();
    FileTree.delete(folder);
  }

  private WeightCache cache(String name, long reserve) throws IOException {
    return WeightCache.open(
        new WeightCacheSettings(List.of(folder.resolve(name)), reserve, 2, 1 << 20));
  }

  /** Publishes a file of one number, as another host does. */
  private CachedVersion published(int version, int bytes) throws IOException {
    Path model = Files.createDirectory(folder.resolve("model" + version));
    byte[] numbers = new byte[bytes];
    Arrays.fill(numbers, (byte) version);
    Files.write(model.resolve("weights.bin"), numbers);
    try (WeightCache sender = cache("sender" + version, 0)) {
      return sender.publish(new WeightVersion(version), "digest" + version, model);
    }
  }

  private CachedVersion received(CachedVersion sent) throws IOException {
    byte[] json = Files.readAllBytes(sent.directory().resolve(VersionManifest.NAME));
    IncomingVersion incoming = cache.begin(sent.manifest(), json);
    byte[] bytes = Files.readAllBytes(sent.directory().resolve("weights.bin"));
    for (int i = 0; i < incoming.chunks(); i++) {
      VersionManifest.Chunk chunk = incoming.place(i).chunk();
      incoming.write(i, 0, ByteBuffer.wrap(bytes, (int) chunk.offset(), chunk.length()));
      incoming.copyChunk(i);
    }
    return cache.seal(sent.ref(), incoming);
  }

  private Path spare() {
    return folder.resolve("receiver/incoming-spare");
  }

  private boolean isReady(int bytes) {
    return spare().resolve("weights.bin").toFile().length() == bytes;
  }

  @Test
  void begin_afterAVersionOfTheSameSizes_writesIntoMemoryThatIsThere() throws Exception {
    received(published(1, BYTES));
    Await.until("the memory for the next version", () -> isReady(BYTES));
    Object file = Files.getAttribute(spare().resolve("weights.bin"), "unix:ino");

    CachedVersion second = received(published(2, BYTES));

    Path weights = second.directory().resolve("weights.bin");
    assertThat(Files.getAttribute(weights, "unix:ino")).isEqualTo(file);
    second.verify(0, 1);
  }

  @Test
  void begin_versionOfOtherSizes_hasFilesOfItsOwn() throws Exception {
    received(published(1, BYTES));
    Await.until("the memory for the next version", () -> isReady(BYTES));

    received(published(2, BYTES - 2)).verify(0, 1);
  }

  @Test
  void begin_whileMemoryIsBeingMade_isWholeAllTheSame() throws Exception {
    for (int version = 1; version <= 8; version++) {
      received(published(version, BYTES)).verify(0, 1);
    }
  }

  /** A worker may hold a version that is no longer in the cache. */
  @Test
  void seal_versionsThatFollow_changeNothingThatAReaderHasMapped() throws Exception {
    Path file = received(published(1, BYTES)).directory().resolve("weights.bin");
    try (Arena arena = Arena.ofConfined();
        FileChannel channel = FileChannel.open(file)) {
      MemorySegment mapped = channel.map(FileChannel.MapMode.READ_ONLY, 0, BYTES, arena);
      for (int version = 2; version <= 6; version++) {
        int size = BYTES;
        received(published(version, BYTES));
        Await.until("the memory for the next version", () -> isReady(size));
      }
      assertThat(file).doesNotExist();
      byte[] numbers = mapped.toArray(ValueLayout.JAVA_BYTE);
      assertThat(numbers).containsOnly(1);
    }
  }

  @Test
  void close_withMemoryMadeAhead_leavesWholeVersionsAlone() throws Exception {
    CachedVersion only = received(published(1, BYTES));
    cache.close();

    try (Stream<Path> left = Files.list(folder.resolve("receiver"))) {
      assertThat(left)
          .containsExactlyInAnyOrder(
              only.directory(), folder.resolve("receiver").resolve(FolderOwnership.LOCK));
    }
  }
}
