package io.troupe.engine.safetensors;

import io.troupe.engine.weights.WeightSnapshot;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** The element types in which files store weights, all little-endian. */
public enum DType {
  /** IEEE 754 binary32. */
  F32(Float.BYTES),
  /** IEEE 754 binary16. */
  F16(Short.BYTES),
  /** The upper half of binary32. */
  BF16(Short.BYTES);

  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfFloat FLOAT =
      ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final int HALF = Float.SIZE - Short.SIZE;

  private final int bytes;

  DType(int bytes) {
    this.bytes = bytes;
  }

  /** Returns the bytes of an element. */
  public int bytes() {
    return bytes;
  }

  /** Converts elements of this type to as many float32 values, exactly. */
  public void toFloats(MemorySegment from, MemorySegment to) {
    long count = from.byteSize() / bytes;
    switch (this) {
      case F32 -> to.copyFrom(from);
      case F16 -> {
        for (long i = 0; i < count; i++) {
          short bits = from.get(SHORT, i * Short.BYTES);
          to.set(FLOAT, i * Float.BYTES, Float.float16ToFloat(bits));
        }
      }
      case BF16 -> {
        for (long i = 0; i < count; i++) {
          int bits = from.get(SHORT, i * Short.BYTES) << HALF;
          to.set(FLOAT, i * Float.BYTES, Float.intBitsToFloat(bits));
        }
      }
    }
  }

  /** Converts float32 values to this type, rounding half to even. */
  public void fromFloats(MemorySegment from, MemorySegment to) {
    long count = from.byteSize() / Float.BYTES;
    switch (this) {
      case F32 -> to.copyFrom(from);
      case F16 -> {
        for (long i = 0; i < count; i++) {
          to.set(SHORT, i * Short.BYTES, Float.floatToFloat16(from.get(FLOAT, i * Float.BYTES)));
        }
      }
      case BF16 -> {
        for (long i = 0; i < count; i++) {
          to.set(SHORT, i * Short.BYTES, bfloat16(from.get(FLOAT, i * Float.BYTES)));
        }
      }
    }
  }

  /** Returns a copy of a tensor with each value rounded to one that this type has. */
  public WeightSnapshot.Tensor rounded(WeightSnapshot.Tensor tensor) {
    try (Arena between = Arena.ofConfined()) {
      return StoredTensor.of(tensor, this, between).loaded();
    }
  }

  /** Returns the bits of the nearest bfloat16, half to even. */
  public static short bfloat16(float value) {
    int bits = Float.floatToRawIntBits(value);
    if (Float.isNaN(value)) {
      return (short) ((bits >>> HALF) | 0x40); // rounding could carry a NaN over to an infinity
    }
    int odd = (bits >>> HALF) & 1;
    return (short) ((bits + 0x7FFF + odd) >>> HALF);
  }
}
