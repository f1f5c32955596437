package io.troupe.engine.safetensors;

import static io.troupe.core.Require.require;

import io.troupe.engine.weights.WeightMemory;
import io.troupe.engine.weights.WeightSnapshot;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * A tensor of a file.
 *
 * @param shape extents, outermost first; none for a single number
 * @param data exactly the elements' bytes, row-major; for a mapped file, valid as long as its arena
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

  /** Returns a tensor of a snapshot as a stored tensor. */
  public static StoredTensor of(WeightSnapshot.Tensor tensor) {
    return new StoredTensor(tensor.name(), DType.F32, tensor.shape(), tensor.data());
  }

  /** Returns a tensor of a snapshot in a type; where that is not float32, in memory of an arena. */
  public static StoredTensor of(WeightSnapshot.Tensor tensor, DType type, Arena memory) {
    if (type == DType.F32) {
      return of(tensor);
    }
    long elements = tensor.bytes() / Float.BYTES;
    MemorySegment values = memory.allocate(elements * type.bytes(), ALIGNMENT);
    type.fromFloats(tensor.data(), values);
    return new StoredTensor(tensor.name(), type, tensor.shape(), values);
  }

  /**
   * Returns the weights of a policy in a type, as {@link #of(WeightSnapshot.Tensor, DType, Arena)}.
   */
  public static List<StoredTensor> all(WeightSnapshot weights, DType type, Arena memory) {
    return weights.tensors().parallelStream().map(tensor -> of(tensor, type, memory)).toList();
  }

  /** Returns the tensor as one of a snapshot, converted to float32 when it is read. */
  public WeightSnapshot.Tensor snapshot() {
    return dtype == DType.F32
        ? new WeightSnapshot.Tensor(name, shape, data)
        : WeightSnapshot.Tensor.made(name, shape, () -> loaded().data());
  }

  /**
   * Returns the tensor as float32 in memory of its own, which is freed some time after its last
   * use.
   */
  public WeightSnapshot.Tensor loaded() {
    return loaded(WeightMemory.arena(loadedBytes()));
  }

  /** Returns the tensor as float32 in memory of an arena. */
  public WeightSnapshot.Tensor loaded(Arena memory) {
    MemorySegment values = memory.allocate(loadedBytes(), ALIGNMENT);
    dtype.toFloats(data, values);
    return new WeightSnapshot.Tensor(name, shape, values.asReadOnly());
  }

  private long loadedBytes() {
    return data.byteSize() / dtype.bytes() * DType.F32.bytes();
  }

  /** Returns name, type and shape. */
  SafetensorsFile.Declared declared() {
    return new SafetensorsFile.Declared(name, dtype, shape);
  }

  /** Returns the tensor under another name. */
  public StoredTensor named(String other) {
    return new StoredTensor(other, dtype, shape, data);
  }
}
