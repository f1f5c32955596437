package io.troupe.benchmarks.weights;

import io.troupe.engine.safetensors.DType;
import io.troupe.engine.safetensors.SafetensorsFile;
import io.troupe.engine.safetensors.StoredTensor;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A model file of any size, in tensors of 32 MiB, as a published version. */
final class SyntheticModelFile {
  static final String FILE = "model.safetensors";
  private static final long TENSOR = 32L << 20;
  private static final long GOLDEN = 0x9E3779B97F4A7C15L;

  private SyntheticModelFile() {}

  /** Writes a file whose bytes do not repeat, and are others for each seed. */
  static void write(Path directory, long bytes, long seed) throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment all = arena.allocate(bytes, Long.BYTES);
      long state = seed + 1;
      for (long i = 0; i + Long.BYTES <= bytes; i += Long.BYTES) {
        state = state * GOLDEN + i;
        all.set(ValueLayout.JAVA_LONG, i, state ^ (state >>> 31));
      }
      write(directory.resolve(FILE), all);
    }
  }

  private static void write(Path file, MemorySegment all) throws IOException {
    List<StoredTensor> tensors = new ArrayList<>();
    for (long from = 0; from < all.byteSize(); from += TENSOR) {
      MemorySegment data = all.asSlice(from, Math.min(TENSOR, all.byteSize() - from));
      tensors.add(
          new StoredTensor(
              "t%05d".formatted(tensors.size()),
              DType.F32,
              List.of(data.byteSize() / Float.BYTES),
              data));
    }
    SafetensorsFile.write(file, tensors, Map.of());
  }

  /** Puts a file in its place of which a share of the tensors differ in one number. */
  static void change(Path directory, double share) throws IOException {
    Path file = directory.resolve(FILE);
    Path next = directory.resolveSibling("next");
    Files.copy(file, next, StandardCopyOption.REPLACE_EXISTING);
    try (Arena arena = Arena.ofConfined();
        var channel = FileChannel.open(next, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      MemorySegment all = channel.map(FileChannel.MapMode.READ_WRITE, 0, channel.size(), arena);
      long end = all.byteSize();
      for (long at = end - Long.BYTES; at > end - share * end && at > 0; at -= 1 << 20) {
        all.set(ValueLayout.JAVA_LONG_UNALIGNED, at, ~all.get(ValueLayout.JAVA_LONG_UNALIGNED, at));
      }
    }
    Files.move(next, file, StandardCopyOption.REPLACE_EXISTING);
  }
}
