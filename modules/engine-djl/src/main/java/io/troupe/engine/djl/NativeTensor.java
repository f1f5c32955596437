package io.troupe.engine.djl;

import ai.djl.pytorch.jni.TorchBridge;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A contiguous tensor in PyTorch's own memory, freed by {@link #close}. Java reads and writes it
 * through {@link #memory}; PyTorch never sees Java's memory, which it could not keep alive.
 */
final class NativeTensor implements AutoCloseable {
  /** Element types, with DJL's numbers. */
  enum DType {
    FLOAT32(0, Float.BYTES),
    FLOAT64(1, Double.BYTES),
    INT64(6, Long.BYTES);

    private final int number;
    private final int bytes;

    DType(int number, int bytes) {
      this.number = number;
      this.bytes = bytes;
    }
  }

  private static final AtomicLong LIVE = new AtomicLong();

  private final long handle;
  private final long bytes;
  private boolean open = true;

  private NativeTensor(long handle, long bytes) {
    this.handle = handle;
    this.bytes = bytes;
    LIVE.incrementAndGet();
  }

  static NativeTensor zeros(DType type, long... shape) {
    long elements = Arrays.stream(shape).reduce(1, Math::multiplyExact);
    return new NativeTensor(
        TorchBridge.zeros(shape, type.number), Math.multiplyExact(elements, type.bytes));
  }

  /** Takes over a handle on a contiguous tensor. */
  static NativeTensor of(long handle, DType type, long elements) {
    return new NativeTensor(handle, Math.multiplyExact(elements, type.bytes));
  }

  /** A new tensor on the same memory, whose gradient is its own and goes with it. */
  NativeTensor leaf() {
    NativeTensor leaf = new NativeTensor(TorchBridge.detach(handle()), bytes);
    TorchBridge.requireGradient(leaf.handle());
    return leaf;
  }

  /** Tensors of this process that are not closed. */
  static long live() {
    return LIVE.get();
  }

  long handle() {
    if (!open) {
      throw new IllegalStateException("the tensor is closed");
    }
    return handle;
  }

  /** The elements in row-major order; valid until {@link #close}. */
  @SuppressWarnings("restricted") // the segment is exactly the tensor's memory
  MemorySegment memory() {
    if (bytes == 0) {
      return MemorySegment.NULL;
    }
    // A direct buffer ends at 2 GiB, so the address comes from one on the first slice.
    long slice = TorchBridge.firstSlice(handle());
    try {
      long address = MemorySegment.ofBuffer(TorchBridge.memory(slice)).address();
      return MemorySegment.ofAddress(address).reinterpret(bytes);
    } finally {
      TorchBridge.deleteTensor(slice);
    }
  }

  @Override
  public void close() {
    if (open) {
      open = false;
      LIVE.decrementAndGet();
      TorchBridge.deleteTensor(handle);
    }
  }
}
