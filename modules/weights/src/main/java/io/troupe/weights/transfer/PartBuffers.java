package io.troupe.weights.transfer;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;

/**
 * What a thread works on, part by part: a part of a chunk before, and the same part of the chunk. A
 * part is small enough that the cache of a core holds it from its reading to its writing.
 */
final class PartBuffers {
  /** Bytes of a part: a multiple of eight. */
  static final int PART = 1 << 17;

  private final ByteBuffer slice = ByteBuffer.allocateDirect(PART);
  private final byte[] base = new byte[PART];
  private final byte[] part = new byte[PART];

  /** The part of the chunk before. */
  byte[] base() {
    return base;
  }

  /** The part of the chunk. */
  byte[] part() {
    return part;
  }

  /** Reads {@code count} bytes of a file. */
  void read(FileChannel file, long at, byte[] into, int count) throws IOException {
    slice.clear().limit(count);
    while (slice.hasRemaining()) {
      if (file.read(slice, at + slice.position()) < 0) {
        throw new EOFException("the file ends before byte " + (at + count));
      }
    }
    slice.flip().get(into, 0, count);
  }

  /** Returns the first {@code count} bytes of an array, to be written. */
  ByteBuffer toWrite(byte[] bytes, int count) {
    return slice.clear().put(bytes, 0, count).flip();
  }
}
