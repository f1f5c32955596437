package io.troupe.weights.transfer;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;

/**
 * What a thread works on, part by part: a part of a chunk before, and the same part of the chunk. A
 * part is small enough that the cache of a core holds it from its reading to its writing.
 */
final class PartBuffers {
  /** Bytes of a part: a multiple of eight. */
  static final int PART = 1 << 17;

  private final ByteBuffer base = direct();
  private final ByteBuffer part = direct();

  private static ByteBuffer direct() {
    return ByteBuffer.allocateDirect(PART).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** The part of the chunk before. */
  ByteBuffer base() {
    return base;
  }

  /** The part of the chunk. */
  ByteBuffer part() {
    return part;
  }

  /** Reads {@code count} bytes of a file; they are what remains of the buffer. */
  static void read(FileChannel file, long at, ByteBuffer into, int count) throws IOException {
    into.clear().limit(count);
    while (into.hasRemaining()) {
      if (file.read(into, at + into.position()) < 0) {
        throw new EOFException("the file ends before byte " + (at + count));
      }
    }
    into.flip();
  }
}
