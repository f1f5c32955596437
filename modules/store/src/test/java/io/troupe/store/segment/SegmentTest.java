package io.troupe.store.segment;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.testkit.Meanwhile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class SegmentTest {
  /** More than one system call lists. */
  private static final int SEGMENTS = 3_000;

  @TempDir private Path folder;

  @Test
  void after_whileSegmentsAreCompressed_hasEachSegment() throws Exception {
    for (int number = 1; number <= SEGMENTS; number++) {
      Files.writeString(Segment.of(folder, number).file(), "");
    }
    Meanwhile.look(
        () -> {
          for (int number = 1; number < SEGMENTS; number++) {
            Segment segment = Segment.of(folder, number);
            Files.writeString(segment.compressedFile(), "");
            Files.delete(segment.file());
          }
          return null;
        },
        () ->
            assertThat(Segment.after(folder, 0).stream().map(Segment::number))
                .containsExactlyElementsOf(IntStream.rangeClosed(1, SEGMENTS).boxed().toList()));
  }
}
