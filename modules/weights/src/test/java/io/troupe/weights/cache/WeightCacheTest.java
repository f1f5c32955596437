package io.troupe.weights.cache;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.weights.WeightVersion;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class WeightCacheTest {
  @TempDir private Path folder;

  private WeightCache cache() throws IOException {
    return WeightCache.open(
        new WeightCacheSettings(List.of(folder.resolve("cache")), 0, 3, 1 << 16));
  }

  @Test
  void usual_runsOfOneNameInTwoFolders_haveTwoFoldersInMemory() {
    WeightCacheSettings one = WeightCacheSettings.usual("run-a", folder.resolve("one"));
    assertThat(WeightCacheSettings.usual("run-a", folder.resolve("./one")).roots().getFirst())
        .isEqualTo(one.roots().getFirst());
    assertThat(WeightCacheSettings.usual("run-a", folder.resolve("two")).roots().getFirst())
        .isNotEqualTo(one.roots().getFirst());
  }

  @Test
  void open_manifestsOfAnotherFormatOrDamaged_areDeletedAndTheRestIsKept() throws IOException {
    Path model = Files.createDirectory(folder.resolve("model"));
    Files.writeString(model.resolve("config.json"), "{}");
    CachedVersion kept;
    CachedVersion older;
    CachedVersion damaged;
    try (WeightCache cache = cache()) {
      kept = cache.publish(new WeightVersion(1), "a", model);
      older = cache.publish(new WeightVersion(2), "b", model);
      damaged = cache.publish(new WeightVersion(3), "c", model);
    }
    Path manifest = older.directory().resolve(VersionManifest.NAME);
    Files.writeString(manifest, Files.readString(manifest).replace("\"format\":2", "\"format\":1"));
    Files.writeString(damaged.directory().resolve(VersionManifest.NAME), "{\"format\":2,");

    try (WeightCache cache = cache()) {
      assertThat(cache.versions().stream().map(CachedVersion::ref)).containsExactly(kept.ref());
      assertThat(older.directory()).doesNotExist();
      assertThat(damaged.directory()).doesNotExist();
    }
  }
}
