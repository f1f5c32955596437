package io.troupe.sync;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.base.files.AtomicFile;
import io.troupe.store.folder.RunFolder;
import io.troupe.store.segment.Segment;
import io.troupe.sync.plan.FolderState;
import io.troupe.testkit.Meanwhile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.util.Map;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class FolderScanTest {
  private static final int SEGMENTS = 200;

  @TempDir private Path temporary;

  @Test
  void look_whileSegmentsAreCompressedAndTemporaryFilesComeAndGo_hasEachSegment() throws Exception {
    RunFolder folder =
        RunFolder.create(
            temporary.resolve("runs"),
            "run",
            LocalDateTime.of(2026, 1, 2, 3, 4),
            new RunFolder.Contents("a: 1\n".getBytes(UTF_8), "a: 1\n", Map.of("pid", 7), ""));
    for (int number = 1; number <= SEGMENTS; number++) {
      Files.writeString(Segment.of(folder.journal(), number).file(), "plain");
    }
    FolderScan scan = new FolderScan(folder);
    Meanwhile.look(
        () -> {
          for (int number = 1; number <= SEGMENTS; number++) {
            AtomicFile.replace(folder.journal().resolve("synced.json"), "{}");
            Segment segment = Segment.of(folder.journal(), number);
            AtomicFile.replace(segment.compressedFile(), "compressed");
            Files.delete(segment.file());
          }
          return null;
        },
        () -> look(scan));
    assertThat(look(scan)).as("a look at a folder at rest").isTrue();
  }

  /** Returns whether the look says that the folder was at rest. */
  private static boolean look(FolderScan scan) throws IOException {
    FolderState state;
    try {
      state = scan.look();
    } catch (NoSuchFileException changing) {
      return false;
    }
    TreeSet<String> segments = new TreeSet<>();
    for (FolderState.LocalFile file : state.files()) {
      if (file.path().startsWith("journal/")) {
        assertThat(file.path()).matches("journal/[0-9]{6}\\.journal(\\.gz)?");
        segments.add(file.path().substring("journal/".length()).substring(0, 6));
      }
    }
    assertThat(segments).hasSize(SEGMENTS);
    return true;
  }
}
