package io.troupe.weights.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.weights.cache.VersionManifest.TensorPlace;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ManifestBuilderTest {
  private static TensorPlace tensor(long offset, long bytes) {
    return new TensorPlace("t" + offset, "F32", List.of(bytes / 4), "f", offset, bytes);
  }

  @Test
  void cuts_largeTensorBetweenSmallOnes_startsAChunk() {
    List<TensorPlace> tensors =
        List.of(tensor(10, 20), tensor(30, 20), tensor(50, 250), tensor(300, 8), tensor(308, 8));
    assertThat(ManifestBuilder.chunkBounds(316, tensors, 100)).containsExactly(0L, 50L, 150L, 250L);
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void cuts_anyTensors_coverTheFileInChunksOfTheSize(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    int chunk = 1 + random.nextInt(500);
    long end = 1L + random.nextInt(100);
    List<TensorPlace> tensors = new ArrayList<>();
    for (int i = random.nextInt(20); i > 0; i--) {
      long bytes = 4L * random.nextInt(300);
      tensors.add(tensor(end, bytes));
      end += bytes;
    }
    List<Long> cuts = ManifestBuilder.chunkBounds(end, tensors, chunk);
    assertThat(cuts.getFirst()).isZero();
    for (int i = 0; i < cuts.size(); i++) {
      long to = i + 1 < cuts.size() ? cuts.get(i + 1) : end;
      assertThat(to - cuts.get(i)).isBetween(1L, (long) chunk);
    }
    for (TensorPlace tensor : tensors) {
      if (tensor.bytes() > chunk) {
        assertThat(cuts).contains(tensor.offset());
      }
    }
  }

  @Test
  void of_hostileManifests_areRefused() {
    for (String json :
        List.of(
            "nothing",
            "{\"format\":9,\"version\":1,\"weights\":\"\",\"files\":[],\"tensors\":[]}",
            "{\"format\":2,\"version\":1,\"weights\":\"\",\"files\":[{\"name\":\"../x\",\"bytes\":0,\"sha256\":\"\",\"chunks\":[]}],\"tensors\":[]}",
            "{\"format\":2,\"version\":1,\"weights\":\"\",\"files\":[{\"name\":\"x\",\"bytes\":9,\"sha256\":\"\",\"chunks\":[]}],\"tensors\":[]}")) {
      assertThatThrownBy(() -> VersionManifest.of(json.getBytes(StandardCharsets.UTF_8)))
          .isInstanceOf(IOException.class);
    }
  }
}
