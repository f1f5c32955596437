package io.troupe.engine.http.sidecar;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

@EnabledOnOs(OS.LINUX)
final class SharedMemoryTest {
  private static final Path FOLDER = Path.of("/dev/shm");

  @Test
  void remove_memoryThatAProcessHadMapped_deletesPythonsAndNoOther() throws Exception {
    Path python = Files.createTempFile(FOLDER, "psm_", "");
    Path other = Files.createTempFile(FOLDER, "troupe-test-", "");
    Path unmapped = Files.createTempFile(FOLDER, "psm_", "");
    try (Arena memory = Arena.ofConfined()) {
      map(python, memory);
      map(other, memory);
      SharedMemory shared = new SharedMemory();
      shared.note(List.of(ProcessHandle.current()));
      shared.remove();
      assertThat(python).doesNotExist();
      assertThat(other).exists();
      assertThat(unmapped).exists();
    } finally {
      for (Path file : List.of(python, other, unmapped)) {
        Files.deleteIfExists(file);
      }
    }
  }

  private static void map(Path file, Arena memory) throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      channel.map(FileChannel.MapMode.READ_WRITE, 0, 4096, memory);
    }
  }
}
