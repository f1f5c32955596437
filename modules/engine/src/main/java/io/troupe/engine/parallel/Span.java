package io.troupe.engine.parallel;

import static io.troupe.core.Require.require;

import java.lang.foreign.MemorySegment;

/**
 * A run of elements in the memory of the host or of a device: what collectives read and write. Only
 * a span of the host shows its memory, because the host cannot read a device's address.
 */
public sealed interface Span {
  /** The type of the elements of a span, little-endian. */
  enum Element {
    /** A byte, which nothing sums. */
    U8(Byte.BYTES),
    /** The upper half of binary32. */
    BF16(Short.BYTES),
    /** IEEE 754 binary32. */
    F32(Float.BYTES),
    /** IEEE 754 binary64. */
    F64(Double.BYTES);

    private final int bytes;

    Element(int bytes) {
      this.bytes = bytes;
    }

    /** Returns the bytes of an element. */
    public int bytes() {
      return bytes;
    }
  }

  /** Returns the address of the first element; an array of the Java heap has none. */
  long address();

  /** Returns the length in bytes. */
  long bytes();

  /** Returns the type of the elements. */
  Element element();

  /**
   * Returns a part of this span.
   *
   * @param from index of its first element
   * @param count number of elements
   */
  Span slice(long from, long count);

  /** Returns the memory of a span of the host; a span of a device throws. */
  MemorySegment memory();

  /** Returns the number of elements. */
  default long count() {
    return bytes() / element().bytes();
  }

  /** Returns a span of the host's memory. */
  static Span of(MemorySegment memory, Element element) {
    return new Host(memory, element);
  }

  /** Returns a span of float32 in the host's memory. */
  static Span floats(MemorySegment memory) {
    return new Host(memory, Element.F32);
  }

  /** Returns a span of a device's memory, which the caller keeps allocated. */
  static Span onDevice(long address, long bytes, Element element) {
    return new Device(address, bytes, element);
  }

  /**
   * A span of the host's memory.
   *
   * @param memory of whole elements
   */
  record Host(MemorySegment memory, Element element) implements Span {
    /** Checks that the memory holds whole elements. */
    public Host {
      requireWhole(memory.byteSize(), element);
    }

    @Override
    public long address() {
      require(memory.isNative(), "an array of the Java heap has no address");
      return memory.address();
    }

    @Override
    public long bytes() {
      return memory.byteSize();
    }

    @Override
    public Host slice(long from, long count) {
      return new Host(memory.asSlice(from * element.bytes(), count * element.bytes()), element);
    }
  }

  /**
   * A span of a device's memory.
   *
   * @param address on the device
   * @param bytes of whole elements
   */
  record Device(long address, long bytes, Element element) implements Span {
    /** Checks that the length is one of whole elements. */
    public Device {
      require(bytes >= 0, "a span has 0 bytes or more, not %d", bytes);
      requireWhole(bytes, element);
    }

    @Override
    public Device slice(long from, long count) {
      long offset = from * element.bytes();
      long length = count * element.bytes();
      require(
          from >= 0 && count >= 0 && offset + length <= bytes,
          "elements %d to %d of a span of %d",
          from,
          from + count,
          count());
      return new Device(address + offset, length, element);
    }

    @Override
    public MemorySegment memory() {
      throw new IllegalStateException(
          "a span of %d bytes is in a device's memory, which the host cannot read: copy it first"
              .formatted(bytes));
    }
  }

  private static void requireWhole(long bytes, Element element) {
    require(
        bytes % element.bytes() == 0,
        "a span of %s has a multiple of %d bytes, not %d",
        element,
        element.bytes(),
        bytes);
  }
}
