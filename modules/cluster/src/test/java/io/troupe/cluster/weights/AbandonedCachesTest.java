package io.troupe.cluster.weights;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class AbandonedCachesTest {
  @TempDir private Path memory;

  private WeightCache cache(String name) throws IOException {
    return WeightCache.open(new CacheSettings(List.of(memory.resolve(name)), 0, 2, 4096));
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
}
