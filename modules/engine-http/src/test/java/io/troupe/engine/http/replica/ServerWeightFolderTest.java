package io.troupe.engine.http.replica;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.safetensors.TensorDigest;
import io.troupe.engine.weights.WeightSnapshot;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ServerWeightFolderTest {
  private static final String TENSORS = "model.safetensors";
  private static final String COMPANION = "config.json";

  @TempDir Path folder;

  private static WeightSnapshot weights(long version) {
    MemorySegment data = Arena.ofAuto().allocateFrom(ValueLayout.JAVA_FLOAT, 1f, (float) version);
    List<WeightSnapshot.Tensor> tensors =
        List.of(new WeightSnapshot.Tensor("w", List.of(2L), data));
    return new WeightSnapshot(new WeightVersion(version), TensorDigest.of(tensors), tensors);
  }

  private ServerWeightFolder open(ServerWeightFolder.WeightFileFinder files) throws IOException {
    return ServerWeightFolder.open(
        folder.resolve("servers"),
        directory -> Files.writeString(directory.resolve(COMPANION), "{}"),
        files);
  }

  @Test
  void put_threeVersions_keepsTheTwoNewestAndTheOneThatAServerReads() throws IOException {
    ServerWeightFolder weights = open(ServerWeightFolder.WeightFileFinder.none());
    Path first = weights.put(weights(1));
    weights.hold(first);
    Path second = weights.put(weights(2));
    Path third = weights.put(weights(3));
    Path fourth = weights.put(weights(4));
    assertThat(first.resolve(TENSORS)).as("a server reads this version").exists();
    assertThat(second).doesNotExist();
    assertThat(List.of(third, fourth)).allMatch(one -> Files.exists(one.resolve(COMPANION)));
    weights.release(first);
    assertThat(first).doesNotExist();
  }

  @Test
  void put_sameWeightsAgain_isTheSameDirectory() throws IOException {
    ServerWeightFolder weights = open(ServerWeightFolder.WeightFileFinder.none());
    assertThat(weights.put(weights(1))).isEqualTo(weights.put(weights(1)));
  }

  @Test
  void open_leftoversOfAnotherProcess_areRemovedBeforeTheFirstVersion() throws IOException {
    Path leftover = Files.createDirectories(folder.resolve("servers/v1-abc.partial"));
    open(ServerWeightFolder.WeightFileFinder.none());
    assertThat(leftover).doesNotExist();
  }

  @Test
  void put_weightsInFilesOfThisHost_linksThemAndOutlivesTheirDeletion() throws IOException {
    Path cached = Files.createDirectories(folder.resolve("cache/v1"));
    Files.writeString(cached.resolve(TENSORS), "tensors");
    ServerWeightFolder weights =
        open((version, _) -> version.number() == 1 ? Optional.of(cached) : Optional.empty());
    Path linked = weights.put(weights(1));
    assertThat(Files.isSameFile(linked.resolve(TENSORS), cached.resolve(TENSORS))).isTrue();
    Files.delete(cached.resolve(TENSORS));
    assertThat(linked.resolve(TENSORS)).hasContent("tensors");
  }

  @Test
  void put_filesDeletedBeforeTheyAreLinked_writesTheWeightsFromMemory() throws IOException {
    Path evicted = folder.resolve("cache/v1");
    Files.createDirectories(evicted.resolveSibling("other"));
    ServerWeightFolder weights = open((_, _) -> Optional.of(evicted));
    Path written = weights.put(weights(1));
    assertThat(written.resolve(TENSORS)).isNotEmptyFile();
    assertThat(written.resolve(COMPANION)).hasContent("{}");
  }
}
