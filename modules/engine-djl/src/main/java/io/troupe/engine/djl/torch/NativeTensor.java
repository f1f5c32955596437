package io.troupe.engine.djl.torch;

import ai.djl.engine.EngineException;
import ai.djl.pytorch.jni.TorchBridge;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A contiguous tensor in PyTorch's own memory, freed by {@link #close}. Java reads and writes a
 * tensor of the host through {@link #memory}, and a tensor of any device by {@link #copyTo} and
 * {@link #copyFrom}. PyTorch sees Java's memory only within these calls, because it could not keep
 * that memory alive.
 */
public final class NativeTensor implements AutoCloseable {
  /** Element types, with DJL's numbers. */
  public enum ElementType {
    FLOAT32(0, Float.BYTES),
    FLOAT64(1, Double.BYTES),
    INT64(6, Long.BYTES);

    private final int number;
    private final int bytes;

    ElementType(int number, int bytes) {
      this.number = number;
      this.bytes = bytes;
    }
  }

  private static final AtomicLong LIVE = new AtomicLong();
  private static final long SLICE = 1L << 28; // elements; a direct buffer ends at 2 GiB

  /** The place of the elements. */
  private sealed interface Place {}

  private record OnHost(long bytes, ElementType type) implements Place {
    static OnHost of(ElementType type, long elements) {
      return new OnHost(Math.multiplyExact(elements, type.bytes), type);
    }
  }

  /** On a device, or of a type, that Java does not read. */
  private record Elsewhere() implements Place {}

  private final long handle;
  private final Place place;
  private boolean open = true;

  private NativeTensor(long handle, Place place) {
    this.handle = handle;
    this.place = place;
    LIVE.incrementAndGet();
  }

  /** Zeros on the host. */
  public static NativeTensor zeros(ElementType type, long... shape) {
    return zeros(Device.host(), type, shape);
  }

  public static NativeTensor zeros(Device device, ElementType type, long... shape) {
    long elements = Arrays.stream(shape).reduce(1, Math::multiplyExact);
    OnHost onHost = OnHost.of(type, elements);
    try {
      long handle = TorchBridge.zeros(shape, type.number, device.code());
      return new NativeTensor(
          handle,
          switch (device) {
            case Device.Cpu() -> onHost;
            case Device.Cuda(_) -> new Elsewhere();
          });
    } catch (EngineException failure) {
      throw TorchOutOfMemoryException.orItself(failure);
    }
  }

  /** Takes ownership of a handle on a contiguous tensor of the host. */
  public static NativeTensor of(long handle, ElementType type, long elements) {
    return new NativeTensor(handle, OnHost.of(type, elements));
  }

  /** Takes ownership of a handle on a tensor of any device and type. */
  public static NativeTensor opaque(long handle) {
    return new NativeTensor(handle, new Elsewhere());
  }

  /**
   * Returns a new tensor on the same memory with a gradient of its own, which closing the tensor
   * frees.
   */
  public NativeTensor leaf() {
    NativeTensor leaf = new NativeTensor(TorchBridge.detach(handle()), place);
    TorchBridge.requireGradient(leaf.handle());
    return leaf;
  }

  /** Returns a new tensor on a range of the memory of this flat one. */
  public NativeTensor slice(long from, long to) {
    return part(TorchBridge.slice(handle(), from, to), to - from);
  }

  /** Returns a new tensor of a shape on a range of the memory of this flat one. */
  public NativeTensor view(long from, long... shape) {
    long elements = Arrays.stream(shape).reduce(1, Math::multiplyExact);
    long range = TorchBridge.slice(handle(), from, from + elements);
    try {
      return part(TorchBridge.view(range, shape), elements);
    } finally {
      TorchBridge.deleteTensor(range);
    }
  }

  private NativeTensor part(long handleOfPart, long elements) {
    return new NativeTensor(
        handleOfPart,
        switch (place) {
          case OnHost(var _, ElementType type) -> OnHost.of(type, elements);
          case Elsewhere() -> place;
        });
  }

  /** Returns the number of tensors of this process that are not closed. */
  public static long live() {
    return LIVE.get();
  }

  public long handle() {
    if (!open) {
      throw new IllegalStateException("the tensor is closed");
    }
    return handle;
  }

  /** Whether {@link #memory} shows the tensor. */
  public boolean onHost() {
    return place instanceof OnHost;
  }

  /** Returns a copy of the tensor on the host. */
  public NativeTensor toHost(ElementType type, long elements) {
    try {
      return of(TorchBridge.toHost(handle(), type.number), type, elements);
    } catch (EngineException failure) {
      throw TorchOutOfMemoryException.orItself(failure);
    }
  }

  /** Copies the elements of a tensor of the same shape, from any device to any device. */
  public void assign(NativeTensor source, long... shape) {
    if (Arrays.stream(shape).allMatch(extent -> extent > 0)) {
      try {
        TorchBridge.assign(handle(), source.handle(), shape);
      } catch (EngineException failure) {
        throw TorchOutOfMemoryException.orItself(failure);
      }
    }
  }

  /** Copies float32 numbers in row-major order in, as many as the tensor has elements. */
  public void copyFrom(MemorySegment numbers) {
    if (onHost()) {
      memory().copyFrom(numbers);
    } else {
      inSlices(numbers, TorchBridge::assign);
    }
  }

  /** Copies the elements out as float32 in row-major order; the memory has room for all of them. */
  public void copyTo(MemorySegment numbers) {
    if (place instanceof OnHost(var _, ElementType type) && type == ElementType.FLOAT32) {
      numbers.copyFrom(memory());
    } else {
      inSlices(numbers, (own, java, shape) -> TorchBridge.assign(java, own, shape));
    }
  }

  private interface SliceCopy {
    void between(long own, long java, long[] shape);
  }

  private void inSlices(MemorySegment numbers, SliceCopy copy) {
    if (!numbers.isNative()) {
      throw new IllegalArgumentException(
          "the numbers are on Java's heap, which PyTorch cannot read");
    }
    long elements = numbers.byteSize() / Float.BYTES;
    long flat = TorchBridge.view(handle(), new long[] {elements});
    try {
      for (long from = 0; from < elements; from += SLICE) {
        long count = Math.min(SLICE, elements - from);
        ByteBuffer slice = numbers.asSlice(from * Float.BYTES, count * Float.BYTES).asByteBuffer();
        long own = TorchBridge.slice(flat, from, from + count);
        long java = TorchBridge.over(slice, ElementType.FLOAT32.number, count);
        try {
          copy.between(own, java, new long[] {count});
        } finally {
          TorchBridge.deleteTensor(java);
          TorchBridge.deleteTensor(own);
        }
      }
    } catch (EngineException failure) {
      throw TorchOutOfMemoryException.orItself(failure);
    } finally {
      TorchBridge.deleteTensor(flat);
    }
  }

  /** The elements in row-major order; valid until {@link #close}. Only for a tensor of the host. */
  @SuppressWarnings("restricted") // the segment is exactly the tensor's memory
  public MemorySegment memory() {
    if (!(place instanceof OnHost(long bytes, var _))) {
      throw new IllegalStateException("the tensor is not in the memory of the host");
    }
    if (bytes == 0) {
      return MemorySegment.NULL;
    }
    // A direct buffer ends at 2 GiB, so the address comes from a buffer on the first slice.
    long slice = TorchBridge.slice(handle(), 0, 1);
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
