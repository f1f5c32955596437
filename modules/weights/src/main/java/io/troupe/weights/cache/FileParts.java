package io.troupe.weights.cache;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;

/**
 * Files of weights are worked on part by part; a part is small enough that the cache of a core
 * holds it from its reading to the end of the work on it.
 */
public final class FileParts {
  /** Bytes of a part: a multiple of eight. */
  public static final int PART = 1 << 17;

  private FileParts() {}

  /** A buffer of a thread for a part. */
  public static ByteBuffer buffer() {
    return ByteBuffer.allocateDirect(PART).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Reads {@code count} bytes of a file; they are what remains of the buffer. */
  public static void read(FileChannel file, long at, ByteBuffer into, int count)
      throws IOException {
    into.clear().limit(count);
    while (into.hasRemaining()) {
      if (file.read(into, at + into.position()) < 0) {
        throw new EOFException("the file ends before byte " + (at + count));
      }
    }
    into.flip();
  }
}
