package io.troupe.ranks.protocol;

import io.troupe.engine.safetensors.TensorRangeWriter;
import io.troupe.weights.cache.ChunkSums;
import io.troupe.weights.delta.DamagedDeltaException;
import io.troupe.weights.delta.DeltaChanges;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * The files that a rank's piece goes into as it is received. Changes are made to what the files
 * have, and what comes of it is compared with the sums of what the rank has.
 */
public final class ReceivedState {
  /** More than a rank sends at once. */
  private static final int MOST = 64 << 20;

  private final TensorRangeWriter files;
  private final List<RankProtocol.ChangedRange> refused = new ArrayList<>();

  public ReceivedState(TensorRangeWriter files) {
    this.files = files;
  }

  /** Takes a range as it is. */
  public void whole(String tensor, long from, MemorySegment bytes) throws IOException {
    files.write(tensor, from, bytes);
  }

  /** Takes the changes of a range; refuses those that do not make the range that the rank has. */
  public void changed(RankProtocol.ChangedRange range, byte[] delta) throws IOException {
    if (range.length() < 0 || range.length() > MOST) {
      throw new IOException("a rank sends the changes of %d bytes".formatted(range.length()));
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment made = arena.allocate(range.length(), Long.BYTES);
      ByteBuffer bytes = made.asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
      files.read(range.tensor(), range.from(), bytes);
      if (isMade(range, delta, bytes)) {
        files.write(range.tensor(), range.from(), made);
      } else {
        refused.add(range);
      }
    }
  }

  private static boolean isMade(RankProtocol.ChangedRange range, byte[] delta, ByteBuffer bytes) {
    try {
      DeltaChanges.read(delta, range.length()).applyTo(bytes, 0, range.length());
    } catch (DamagedDeltaException none) {
      return false;
    }
    ChunkSums sums = new ChunkSums();
    sums.add(bytes);
    return sums.prove(range.crc32c(), range.crc32());
  }

  /** Returns the ranges whose changes were refused: the files have them as they were. */
  public List<RankProtocol.ChangedRange> refused() {
    return List.copyOf(refused);
  }
}
