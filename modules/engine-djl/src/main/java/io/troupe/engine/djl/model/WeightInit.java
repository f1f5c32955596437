package io.troupe.engine.djl.model;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;

/**
 * The initial weights: norms are 1, biases 0, matrices normal(0, std). Numbers come from Java's
 * {@link Random#nextGaussian}, whose algorithm is specified to the bit: a seed gives the same
 * weights on every machine. Each tensor has a stream of its own, named by seed and tensor.
 */
final class WeightInit {
  private WeightInit() {}

  static void fill(DecoderLayout.Parameter parameter, long seed, double std, MemorySegment memory) {
    long count = memory.byteSize() / Float.BYTES;
    switch (parameter.kind()) {
      case NORM -> {
        for (long i = 0; i < count; i++) {
          memory.setAtIndex(ValueLayout.JAVA_FLOAT, i, 1);
        }
      }
      case BIAS -> memory.fill((byte) 0);
      case MATRIX -> {
        Random normal =
            new Random(CounterRandom.mix(CounterRandom.mix(seed) ^ parameter.name().hashCode()));
        for (long i = 0; i < count; i++) {
          memory.setAtIndex(ValueLayout.JAVA_FLOAT, i, (float) (std * normal.nextGaussian()));
        }
      }
    }
  }
}
