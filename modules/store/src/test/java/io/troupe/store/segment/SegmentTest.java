package io.troupe.store.segment;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
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
    int lists = 0;
    try (ExecutorService other = Executors.newSingleThreadExecutor()) {
      Future<?> changes =
          other.submit(
              () -> {
                for (int number = 1; number < SEGMENTS; number++) {
                  Segment segment = Segment.of(folder, number);
                  Files.writeString(segment.compressedFile(), "");
                  Files.delete(segment.file());
                }
                return null;
              });
      do {
        assertThat(Segment.after(folder, 0).stream().map(Segment::number))
            .containsExactlyElementsOf(IntStream.rangeClosed(1, SEGMENTS).boxed().toList());
        lists++;
      } while (!changes.isDone());
      changes.get();
    }
    assertThat(lists).isPositive();
  }
}
