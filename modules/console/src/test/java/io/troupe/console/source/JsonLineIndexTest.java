package io.troupe.console.source;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class JsonLineIndexTest {
  @TempDir private Path folder;

  private static String line(int group, int fence) {
    return "{\"group\":%d,\"fence\":%d}\n".formatted(group, fence);
  }

  @Test
  void of_fileRotatedWhileItIsRead_findsLinesOfBothFilesAndForgetsDroppedOnes() throws IOException {
    Path file = folder.resolve("rollouts.jsonl");
    Path previous = folder.resolve("rollouts.1.jsonl");
    JsonLineIndex index = new JsonLineIndex(file, "group");
    assertThat(index.of(1)).isEmpty();
    Files.writeString(file, line(1, 1) + line(2, 2));
    assertThat(index.of(1)).hasSize(1);

    Files.writeString(file, line(3, 3), StandardOpenOption.APPEND);
    Files.move(file, previous);
    assertThat(index.of(1)).as("between the steps of a rotation").hasSize(1);
    assertThat(new JsonLineIndex(file, "group").of(3)).hasSize(1);
    Files.writeString(file, line(4, 4) + line(1, 5));
    assertThat(index.of(1)).extracting(one -> one.path("fence").asInt()).containsExactly(1, 5);
    assertThat(index.of(3)).hasSize(1);
    assertThat(index.of(4)).hasSize(1);

    Files.move(file, previous, StandardCopyOption.REPLACE_EXISTING);
    Files.writeString(file, line(6, 6));
    assertThat(index.of(1)).extracting(one -> one.path("fence").asInt()).containsExactly(5);
    assertThat(index.of(3)).isEmpty();
    assertThat(index.of(6)).hasSize(1);
    assertThat(new JsonLineIndex(file, "group").of(4)).hasSize(1);
  }
}
