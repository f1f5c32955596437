package io.troupe.sync.plan;

import static io.troupe.core.Require.require;

/**
 * The sizes of the objects and parts into which files are cut.
 *
 * @param piece most bytes of a piece of a file that may grow, and of a file that goes in one part
 * @param part fewest bytes of a part; all parts of a file but the last are of equal size
 */
public record UploadSizes(long piece, long part) {
  /** S3 takes parts of 5 MiB and more. */
  public static final UploadSizes S3 = new UploadSizes(8L << 20, 8L << 20);

  private static final int MOST_PARTS = 10_000;
  private static final long MIB = 1L << 20;

  public UploadSizes {
    require(piece >= 1 && part >= 1, "pieces and parts have at least one byte");
  }

  /** Bytes of each part of a file but the last. */
  public long partOf(long bytes) {
    long least = Math.ceilDiv(bytes, MOST_PARTS);
    return Math.max(part, least <= part ? 0 : Math.ceilDiv(least, MIB) * MIB);
  }
}
