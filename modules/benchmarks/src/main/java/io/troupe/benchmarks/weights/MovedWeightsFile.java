package io.troupe.benchmarks.weights;

import io.troupe.engine.safetensors.DType;
import io.troupe.engine.safetensors.SafetensorsFile;
import io.troupe.engine.safetensors.StoredTensor;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * Versions of bfloat16 weights in the shapes of layers of Qwen3-4B: each version's float32 masters
 * are those of the version before, moved as AdamW moves them under random gradients. Numbers are
 * drawn again for every file, so that nothing but the file is in memory.
 */
final class MovedWeightsFile {
  /** Rows and columns of a layer's matrices: queries, keys, values, output, gate, up, down. */
  static final int[][] LAYER = {
    {4096, 2560}, {1024, 2560}, {1024, 2560}, {2560, 4096}, {9728, 2560}, {9728, 2560}, {2560, 9728}
  };

  static final double LEARNING_RATE = 1e-6;
  private static final double STD = .02;

  /** The standard deviation of m / sqrt(v) under random gradients: sqrt((1 - b1) / (1 + b1)). */
  private static final double MOVE = Math.sqrt((1 - .9) / (1 + .9));

  private MovedWeightsFile() {}

  /** Returns the bytes of some layers. */
  static long bytes(int layers) {
    long numbers = 0;
    for (int[] matrix : LAYER) {
      numbers += (long) matrix[0] * matrix[1];
    }
    return numbers * layers * Short.BYTES;
  }

  /** Writes a version, counted from 1. */
  static void write(Path directory, int layers, int version) throws IOException {
    try (Arena arena = Arena.ofShared()) {
      MemorySegment all = arena.allocate(bytes(layers), Long.BYTES);
      List<StoredTensor> tensors = new ArrayList<>();
      long from = 0;
      for (int layer = 0; layer < layers; layer++) {
        for (int i = 0; i < LAYER.length; i++) {
          long numbers = (long) LAYER[i][0] * LAYER[i][1];
          MemorySegment data = all.asSlice(from, numbers * Short.BYTES);
          fill(data, version, (long) layer * LAYER.length + i);
          tensors.add(
              new StoredTensor(
                  "layers.%02d.%d".formatted(layer, i),
                  DType.BF16,
                  List.of((long) LAYER[i][0], (long) LAYER[i][1]),
                  data));
          from += data.byteSize();
        }
      }
      SafetensorsFile.write(directory.resolve(SyntheticModelFile.FILE), tensors, Map.of());
    }
  }

  private static void fill(MemorySegment data, int version, long seed) {
    SplittableRandom first = new SplittableRandom(seed);
    SplittableRandom[] moves = new SplittableRandom[version - 1];
    for (int v = 0; v < moves.length; v++) {
      moves[v] = new SplittableRandom(seed ^ (v + 1L) << Integer.SIZE);
    }
    for (long i = 0; i < data.byteSize() / Short.BYTES; i++) {
      float weight = (float) (STD * gaussian(first.nextLong()));
      for (SplittableRandom move : moves) {
        weight -= (float) (LEARNING_RATE * MOVE * gaussian(move.nextLong()));
      }
      data.setAtIndex(ValueLayout.JAVA_SHORT, i, DType.bfloat16(weight));
    }
  }

  /** Nearly normal: the sum of four uniform numbers of 16 bits. */
  private static double gaussian(long bits) {
    double sum = 0;
    for (int i = 0; i < 4; i++) {
      sum += ((bits >>> (16 * i)) & 0xFFFF) / 65536.0 - .5;
    }
    return sum * Math.sqrt(3);
  }
}
