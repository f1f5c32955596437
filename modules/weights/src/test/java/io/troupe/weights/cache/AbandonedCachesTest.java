package io.troupe.weights.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class AbandonedCachesTest {
  private static final int NOBODY = 65534;

  @TempDir private Path memory;

  private WeightCache cache(String name) throws IOException {
    return WeightCache.open(new WeightCacheSettings(List.of(memory.resolve(name)), 0, 2, 4096));
  }

  @Test
  void delete_withoutOwner_goesAndTheOwnedAndTheYoungStay() throws IOException {
    cache("troupe-dead").close();
    cache("other").close();
    try (WeightCache _ = cache("troupe-owned")) {
      AbandonedCaches.delete(memory, 0);
      assertThat(memory.resolve("troupe-dead")).isDirectory();

      AbandonedCaches.delete(memory, Long.MAX_VALUE);
      assertThat(memory.resolve("troupe-dead")).doesNotExist();
      assertThat(memory.resolve("troupe-owned")).isDirectory();
      assertThat(Files.exists(memory.resolve("other"))).isTrue();
    }
  }

  @Test
  void delete_linkOrMarkThatIsOne_isLeftAloneWithWhatItPointsAt() throws IOException {
    Path elsewhere = memory.resolve("other");
    cache("other").close();
    Files.createSymbolicLink(memory.resolve("troupe-link"), elsewhere);
    Path marked = Files.createDirectory(memory.resolve("troupe-marked"));
    Files.createSymbolicLink(
        marked.resolve(FolderOwnership.LOCK), elsewhere.resolve(FolderOwnership.LOCK));

    AbandonedCaches.delete(memory, Long.MAX_VALUE);

    assertThat(elsewhere.resolve(FolderOwnership.LOCK)).exists();
    assertThat(memory.resolve("troupe-link")).isSymbolicLink();
    assertThat(marked.resolve(FolderOwnership.LOCK)).isSymbolicLink();
  }

  @Test
  void delete_folderOfAnotherUser_isLeftAlone() throws IOException {
    cache("troupe-theirs").close();
    Path theirs = memory.resolve("troupe-theirs");
    if (isRoot()) { // Only root can give a folder away.
      Files.setAttribute(theirs, "unix:uid", NOBODY);
      AbandonedCaches.delete(memory, Long.MAX_VALUE);
      assertThat(theirs).isDirectory();
    }
  }

  @Test
  void open_newCache_isClosedToOtherUsers() throws IOException {
    try (WeightCache _ = cache("troupe-a")) {
      assertThat(mode(memory.resolve("troupe-a"))).isEqualTo("rwx------");
    }
  }

  @Test
  void open_folderThatOthersMade_isRefused() throws IOException {
    Path open = Files.createDirectory(memory.resolve("troupe-open"));
    Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwxrwxrwx"));
    assertThatThrownBy(() -> cache("troupe-open"))
        .hasMessageContaining("is open to other users (rwxrwxrwx)");
    Files.createSymbolicLink(memory.resolve("troupe-link"), open);
    assertThatThrownBy(() -> cache("troupe-link")).hasMessageContaining("is a link and no folder");
    if (isRoot()) {
      Path theirs = Files.createDirectory(memory.resolve("troupe-theirs"));
      Files.setAttribute(theirs, "unix:uid", NOBODY);
      assertThatThrownBy(() -> cache("troupe-theirs"))
          .hasMessageContaining("and not to this process's user");
    }
  }

  private boolean isRoot() throws IOException {
    return ((Number) Files.getAttribute(memory, "unix:uid")).intValue() == 0;
  }

  private static String mode(Path path) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
  }
}
