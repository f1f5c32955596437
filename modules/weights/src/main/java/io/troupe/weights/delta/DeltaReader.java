package io.troupe.weights.delta;

/** Reads a delta from its first byte on. */
final class DeltaReader {
  private static final int SEVEN_BITS = 0x7F;
  private static final int MORE = 0x80;
  private static final int MOST_VARINT = 5;

  private final byte[] bytes;
  private int at;

  DeltaReader(byte[] bytes) {
    this.bytes = bytes;
  }

  byte next() throws DamagedDeltaException {
    if (at == bytes.length) {
      throw new DamagedDeltaException("ends after %d bytes".formatted(at));
    }
    return bytes[at++];
  }

  /** Reads what {@link ByteList#addVarint} wrote. */
  int varint() throws DamagedDeltaException {
    int value = 0;
    for (int i = 0; i < MOST_VARINT; i++) {
      byte part = next();
      value |= (part & SEVEN_BITS) << (7 * i);
      if ((part & MORE) == 0) {
        return value;
      }
    }
    throw new DamagedDeltaException("a number of more than %d bytes".formatted(MOST_VARINT));
  }

  /** Reads a number of things that take at least one byte each. */
  int count(int most, String things) throws DamagedDeltaException {
    int count = varint();
    if (count < 0 || count > Math.min(most, bytes.length - at)) {
      throw new DamagedDeltaException(
          "%d %s, of at most %d, in %d bytes".formatted(count, things, most, bytes.length - at));
    }
    return count;
  }

  void end() throws DamagedDeltaException {
    if (at != bytes.length) {
      throw new DamagedDeltaException("%d bytes too many".formatted(bytes.length - at));
    }
  }
}
