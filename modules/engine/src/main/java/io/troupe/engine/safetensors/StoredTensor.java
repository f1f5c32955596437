package io.troupe.engine.safetensors;

import static io.troupe.core.Require.require;

import io.troupe.engine.weights.WeightMemory;
import io.troupe.engine.weights.WeightSnapshot;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * A tensor as a file holds it.
 *
 * @param shape extents, outermost first; none for a single number
 * @param data exactly the elements' bytes, row-major; of a mapped file, valid as long as its arena
 */
public record StoredTensor(String name, DType dtype, List<Long> shape, MemorySegment data) {
  private static final int ALIGNMENT = 64;

  public StoredTensor {
    shape = List.copyOf(shape);
    long bytes = shape.stream().reduce((long) dtype.bytes(), Math::multiplyExact);
    require(
        bytes == data.byteSize(),
        "the tensor %s of %s %s takes %d bytes, not %d",
        name,
        dtype,
        shape,
        bytes,
        data.byteSize());
  }

  /** A tensor of a snapshot. */
  public static StoredTensor of(WeightSnapshot.Tensor tensor) {
    return new StoredTensor(tensor.name(), DType.F32, tensor.shape(), tensor.data());
  }

  /** The same as float32, in memory of its own, which goes some time after nobody uses it. */
  public WeightSnapshot.Tensor loaded() {
    return loaded(WeightMemory.arena(loadedBytes()));
  }

  /** The same as float32, in memory of an arena. */
  public WeightSnapshot.Tensor loaded(Arena memory) {
    MemorySegment values = memory.allocate(loadedBytes(), ALIGNMENT);
    dtype.toFloats(data, values);
    return new WeightSnapshot.Tensor(name, shape, values.asReadOnly());
  }

  private long loadedBytes() {
    return data.byteSize() / dtype.bytes() * DType.F32.bytes();
  }

  /** The tensor under another name. */
  public StoredTensor named(String other) {
    return new StoredTensor(other, dtype, shape, data);
  }
}
