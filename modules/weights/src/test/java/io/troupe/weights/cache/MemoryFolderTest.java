package io.troupe.weights.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

final class MemoryFolderTest {
  private static final long HOLE = 1_000_000;

  @TempDir private Path memory;
  @TempDir private Path disk;

  private MemoryFolder open(long reserve) throws IOException {
    return MemoryFolder.open(memory, "ranks", disk, reserve);
  }

  private static Path withHole(Path file) throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      channel.write(ByteBuffer.wrap(new byte[] {7}));
      channel.write(ByteBuffer.allocate(1), HOLE);
    }
    return file;
  }

  private static long blocks(Path file) throws IOException {
    Process stat = new ProcessBuilder("stat", "-c", "%b", file.toString()).start();
    return Long.parseLong(
        new String(stat.getInputStream().readAllBytes(), StandardCharsets.US_ASCII).strip());
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void makePages_fileWithAHole_hasAllItsPagesAndItsContent() throws IOException {
    try (MemoryFolder folder = open(0)) {
      Path file = withHole(folder.path().resolve("x"));
      long before = blocks(file);
      folder.makePages(List.of(file));
      assertThat(blocks(file)).isGreaterThanOrEqualTo(HOLE / 512).isGreaterThan(before);
      byte[] expected = new byte[(int) HOLE + 1];
      expected[0] = 7;
      assertThat(file).hasBinaryContent(expected);
    }
  }

  @Test
  void makePages_memoryThatIsFull_isRefusedWithNumbers() throws IOException {
    try (MemoryFolder folder = open(Long.MAX_VALUE / 2)) {
      Path file = withHole(folder.path().resolve("x"));
      assertThatThrownBy(() -> folder.makePages(List.of(file)))
          .hasMessageContaining("bytes free, and files of 1000001 beside a reserve of ")
          .hasMessageContaining("do not fit");
    }
  }

  @Test
  void open_folder_isPrivateAndOursUntilItIsClosed() throws IOException {
    MemoryFolder folder = open(0);
    Files.writeString(folder.path().resolve("x"), "weights");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(folder.path())))
        .isEqualTo("rwx------");
    AbandonedCaches.delete(memory, Long.MAX_VALUE);
    assertThat(folder.path().resolve("x")).exists();
    assertThatThrownBy(() -> open(0)).hasMessageContaining("another process owns this folder");
    folder.close();
    assertThat(memory).isEmptyDirectory();
  }

  /** What a killed process leaves: the files and a mark that nobody has locked. */
  @Test
  void delete_ofAKilledProcess_goes() throws IOException {
    try (MemoryFolder folder = open(0)) {
      Path left = Files.createDirectory(memory.resolve("troupe-ranks-1-00000000"));
      Files.writeString(left.resolve(FolderOwnership.LOCK), "");
      Files.writeString(left.resolve("x"), "weights");
      AbandonedCaches.delete(memory, Long.MAX_VALUE);
      assertThat(left).doesNotExist();
      assertThat(folder.path()).exists();
    }
  }
}
