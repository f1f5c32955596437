package io.troupe.weights.transfer;

import io.troupe.weights.cache.FileParts;
import java.nio.ByteBuffer;

/** The buffers of a thread: a part of a chunk before, and the same part of the chunk. */
final class PartBuffers {
  private final ByteBuffer base = FileParts.buffer();
  private final ByteBuffer part = FileParts.buffer();

  /** The part of the chunk before. */
  ByteBuffer base() {
    return base;
  }

  /** The part of the chunk. */
  ByteBuffer part() {
    return part;
  }
}
