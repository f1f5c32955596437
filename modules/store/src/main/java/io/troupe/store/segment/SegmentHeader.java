package io.troupe.store.segment;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.zip.CRC32C;

/**
 * The head of a segment file, big-endian:
 *
 * <pre>
 *   0  magic           4  "TRJS"
 *   4  format          4  1
 *   8  first sequence  8  number of the segment's first record
 *  16  epoch           8  of the one writer that appends to this segment
 *  24  salt            8  random; goes into every frame's checksum
 *  32  checksum        4  CRC-32C over bytes 0 to 31
 * </pre>
 */
public record SegmentHeader(long firstSequence, long epoch, long salt) {
  public static final int BYTES = 36;
  private static final int MAGIC = 0x54524A53;
  private static final int FORMAT = 1;
  private static final int CHECKSUM_AT = 32;

  /** The first bytes of a segment file. */
  public sealed interface Read {
    /** A header that can be trusted. */
    record Whole(SegmentHeader header) implements Read {}

    /** No header, and nothing behind it: the file was being made when its writer died. */
    record Unfinished(long bytes) implements Read {}

    /** A header that cannot be trusted in front of bytes that may be records. */
    record Damaged(String reason) implements Read {}
  }

  public ByteBuffer encode() {
    ByteBuffer out = ByteBuffer.allocate(BYTES);
    out.putInt(MAGIC).putInt(FORMAT).putLong(firstSequence).putLong(epoch).putLong(salt);
    return out.putInt(checksum(out)).flip();
  }

  public static Read read(Path file) throws IOException {
    ByteBuffer in = ByteBuffer.allocate(BYTES);
    try (SegmentBytes bytes = SegmentBytes.open(file)) {
      bytes.read(in, 0);
      if (!in.hasRemaining() && in.getInt(CHECKSUM_AT) == checksum(in) && in.getInt(0) == MAGIC) {
        return in.getInt(4) == FORMAT
            ? new Read.Whole(new SegmentHeader(in.getLong(8), in.getLong(16), in.getLong(24)))
            : new Read.Damaged(
                "journal format %d, and this version reads %d".formatted(in.getInt(4), FORMAT));
      }
      return bytes.size() <= BYTES
          ? new Read.Unfinished(bytes.size())
          : new Read.Damaged("the segment's header has a wrong checksum");
    }
  }

  private static int checksum(ByteBuffer header) {
    CRC32C crc = new CRC32C();
    crc.update(header.slice(0, CHECKSUM_AT));
    return (int) crc.getValue();
  }
}
