package io.troupe.engine.parallel;

import java.io.IOException;
import java.lang.foreign.MemorySegment;

/** Takes the state of a rank, range by range. */
@FunctionalInterface
public interface StateSink {
  /**
   * Writes a range of a tensor.
   *
   * @param tensor name in the files that the state goes to
   * @param from first byte of the range within the tensor
   * @param bytes as in the file, little-endian; read before the call returns
   */
  void write(String tensor, long from, MemorySegment bytes) throws IOException;
}
