package io.troupe.weights.cache;

import io.troupe.weights.cache.VersionManifest.Chunk;
import java.nio.ByteBuffer;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;

/**
 * The two cyclic sums of a chunk, which prove that bytes made of a delta are the chunk.
 *
 * <p>Their polynomials are of degree 32 and have no common factor, so both together are a cyclic
 * sum of 64 bits: no change within 64 bits passes, and of other accidents one in 2<sup>64</sup>.
 * One core does several times as many bytes a second as with SHA-256.
 */
public final class ChunkSums {
  private final CRC32C crc32c = new CRC32C();
  private final CRC32 crc32 = new CRC32();

  /** Takes the next bytes of the chunk, all that remain; their position stays. */
  public void add(ByteBuffer bytes) {
    crc32c.update(bytes.duplicate());
    crc32.update(bytes.duplicate());
  }

  /** Returns the one sum. */
  public int crc32c() {
    return (int) crc32c.getValue();
  }

  /** Returns the other sum. */
  public int crc32() {
    return (int) crc32.getValue();
  }

  /** Returns whether what was added is this chunk. */
  public boolean prove(Chunk chunk) {
    return prove(chunk.crc32c(), chunk.crc32());
  }

  /** Returns whether what was added has these sums. */
  public boolean prove(int expected32c, int expected32) {
    return crc32c() == expected32c && crc32() == expected32;
  }
}
