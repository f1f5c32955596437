package io.troupe.weights.delta;

import java.util.Arrays;

/** Bytes that are added at the end. */
final class ByteList {
  private static final int SEVEN_BITS = 0x7F;
  private static final int MORE = 0x80;

  private byte[] bytes = new byte[1 << 12];
  private int size;

  int size() {
    return size;
  }

  byte[] toArray() {
    return Arrays.copyOf(bytes, size);
  }

  void add(byte one) {
    if (size == bytes.length) {
      bytes = Arrays.copyOf(bytes, 2 * size);
    }
    bytes[size++] = one;
  }

  void addAll(ByteList others) {
    if (size + others.size > bytes.length) {
      bytes = Arrays.copyOf(bytes, 2 * (size + others.size));
    }
    System.arraycopy(others.bytes, 0, bytes, size, others.size);
    size += others.size;
  }

  /**
   * Adds an unsigned number, seven bits a byte, the lowest first; the top bit says that more
   * follow.
   */
  void addVarint(int value) {
    int left = value;
    while ((left & ~SEVEN_BITS) != 0) {
      add((byte) ((left & SEVEN_BITS) | MORE));
      left >>>= 7;
    }
    add((byte) left);
  }

  /** Adds a bit: to a new byte if the bit is its first, else to the last byte. */
  void addBit(int bit, boolean set) {
    if (bit == 0) {
      add((byte) 0);
    }
    if (set) {
      bytes[size - 1] |= (byte) (1 << bit);
    }
  }

  /** Returns the number of bytes of an unsigned number. */
  static int sizeOf(int value) {
    return Math.max(1, Math.ceilDiv(Integer.SIZE - Integer.numberOfLeadingZeros(value), 7));
  }
}
