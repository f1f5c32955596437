package io.troupe.cluster.weights;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.core.weights.WeightVersion;
import io.troupe.engine.safetensors.TensorDigest;
import io.troupe.engine.weights.WeightSnapshot;
import io.troupe.runtime.weights.PublishedWeights;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FolderWeightsTest {
  @TempDir Path folder;

  private static WeightSnapshot weights(long version) {
    MemorySegment data = Arena.ofAuto().allocateFrom(ValueLayout.JAVA_FLOAT, 1f, (float) version);
    List<WeightSnapshot.Tensor> tensors =
        List.of(new WeightSnapshot.Tensor("w", List.of(2L), data));
    return new WeightSnapshot(new WeightVersion(version), TensorDigest.of(tensors), tensors);
  }

  /** Publishes a version whose file is as old as its place in the order of publications says. */
  private static PublishedWeights publish(FolderWeights weights, long version, long second)
      throws IOException {
    PublishedWeights published = weights.publish(weights(version)).toCompletableFuture().join();
    Files.setLastModifiedTime(
        Path.of(published.place()), FileTime.fromMillis(1_000_000 + 1_000 * second));
    return published;
  }

  @Test
  void publish_afterAResume_keepsTheTwoNewestPublicationsWhateverTheirVersions() throws Exception {
    try (FolderWeights weights = new FolderWeights(folder)) {
      PublishedWeights lost = publish(weights, 8, 0);
      PublishedWeights last = publish(weights, 9, 1);
      PublishedWeights resumed = publish(weights, 7, 2);
      assertThat(Path.of(lost.place())).doesNotExist();
      assertThat(Path.of(last.place())).exists();
      publish(weights, 8, 3);
      assertThat(Path.of(last.place())).doesNotExist();
      assertThat(weights.fetch(resumed).toCompletableFuture().join().digest())
          .isEqualTo(resumed.digest());
    }
  }

  @Test
  void fetch_fileOfOtherWeightsOrGone_isRefusedByName() throws Exception {
    try (FolderWeights weights = new FolderWeights(folder)) {
      PublishedWeights published = publish(weights, 1, 0);
      PublishedWeights other =
          new PublishedWeights(published.version(), "another digest", published.place());
      assertThatThrownBy(() -> weights.fetch(other).toCompletableFuture().join())
          .isInstanceOf(CompletionException.class)
          .hasMessageContaining(
              "has digest %s, and v1 was published with another digest"
                  .formatted(published.digest()));
      Files.delete(Path.of(published.place()));
      assertThatThrownBy(() -> weights.fetch(published).toCompletableFuture().join())
          .hasMessageContaining("is gone: newer weights replaced it");
    }
  }
}
