package io.troupe.engine.safetensors;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.engine.safetensors.SafetensorsFile.Declared;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class TensorRangeWriterTest {
  @TempDir private Path folder;

  /** Two writers, as two processes have them, fill files in random ranges. */
  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void write_randomRangesByTwoWriters_makeTheFilesThatOneWriterWrites(long seed)
      throws IOException {
    SplittableRandom random = new SplittableRandom(seed);
    List<StoredTensor> tensors = new ArrayList<>();
    for (int i = 0; i < 1 + random.nextInt(6); i++) {
      byte[] values = new byte[random.nextInt(50) * Float.BYTES];
      random.nextBytes(values);
      tensors.add(
          new StoredTensor(
              "tensor" + i,
              DType.F32,
              List.of((long) values.length / Float.BYTES),
              MemorySegment.ofArray(values)));
    }
    long shard = 1 + random.nextLong(400);
    Path whole = Files.createDirectory(folder.resolve("whole"));
    Path holes = Files.createDirectory(folder.resolve("holes"));
    ModelFiles.write(whole, tensors, shard);
    List<String> names =
        ModelFiles.create(holes, tensors.stream().map(StoredTensor::declared).toList(), shard);
    try (TensorRangeWriter one = TensorRangeWriter.open(holes, names);
        TensorRangeWriter other = TensorRangeWriter.open(holes, names)) {
      for (StoredTensor tensor : tensors) {
        long from = 0;
        while (from < tensor.data().byteSize()) {
          long length = Math.min(1 + random.nextLong(60), tensor.data().byteSize() - from);
          (random.nextBoolean() ? one : other)
              .write(tensor.name(), from, tensor.data().asSlice(from, length));
          from += length;
        }
      }
    }
    List<Path> files;
    try (var found = Files.list(whole)) {
      files = found.toList();
    }
    for (Path file : files) {
      assertThat(holes.resolve(file.getFileName())).hasSameBinaryContentAs(file);
    }
  }

  @Test
  void write_beyondTheTensorOrAnother_isRefused() throws IOException {
    SafetensorsFile.create(
        folder.resolve("x.safetensors"),
        List.of(
            new Declared("a", DType.F32, List.of(2L)), new Declared("b", DType.F32, List.of(2L))),
        Map.of());
    try (TensorRangeWriter writer = TensorRangeWriter.open(folder, List.of("x.safetensors"))) {
      assertThatThrownBy(() -> writer.write("a", 4, MemorySegment.ofArray(new byte[8])))
          .isInstanceOf(IOException.class)
          .hasMessageEndingWith("x.safetensors: bytes 4 to 12 of a, which has 8");
      assertThatThrownBy(() -> writer.write("c", 0, MemorySegment.ofArray(new byte[4])))
          .hasMessage("no file was made for the tensor c");
    }
  }

  @Test
  void open_fileWithoutAHeader_isRefused() throws IOException {
    Files.write(folder.resolve("x.safetensors"), new byte[3]);
    assertThatThrownBy(() -> TensorRangeWriter.open(folder, List.of("x.safetensors")))
        .isInstanceOf(IOException.class)
        .hasMessageEndingWith("x.safetensors ends within its header");
  }
}
