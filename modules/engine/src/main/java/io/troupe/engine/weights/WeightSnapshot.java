package io.troupe.engine.weights;

import io.troupe.core.weights.WeightVersion;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * The policy's weights at one version, immutable, readable from any thread.
 *
 * @param version of the weights
 * @param digest SHA-256, in hex, over name, shape and bytes of all tensors in name order: two
 *     snapshots with the same digest sample alike
 * @param tensors in name order, named as in Hugging Face checkpoints; with adapters merged in
 * @param adapter the adapters by themselves
 */
public record WeightSnapshot(
    WeightVersion version, String digest, List<Tensor> tensors, Adapter adapter) {
  /**
   * One tensor of float32 values, little-endian, row-major.
   *
   * @param shape extents, outermost first
   * @param data exactly the values' bytes; read-only by convention
   */
  public record Tensor(String name, List<Long> shape, MemorySegment data) {
    public Tensor {
      shape = List.copyOf(shape);
    }
  }

  public WeightSnapshot {
    tensors = List.copyOf(tensors);
  }

  /** Creates weights without adapters. */
  public WeightSnapshot(WeightVersion version, String digest, List<Tensor> tensors) {
    this(version, digest, tensors, Adapter.NONE);
  }

  /** Returns the same weights, into which these adapters were merged. */
  public WeightSnapshot with(Adapter merged) {
    return new WeightSnapshot(version, digest, tensors, merged);
  }
}
