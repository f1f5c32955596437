package io.troupe.store.journal;

import io.troupe.store.segment.JournalRecord;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * The bytes of one journal record, big-endian:
 *
 * <pre>
 *   0  magic     4  "TRJF"
 *   4  length    4  of the payload
 *   8  sequence  8
 *  16  epoch     8
 *  24  checksum  4  CRC-32C over the segment's salt, bytes 0 to 23 and the payload
 *  28  payload
 * </pre>
 *
 * <p>The salt makes a frame intact in its own segment only: a payload that happens to hold a frame,
 * or a recycled disk block, is never taken for a record.
 */
final class RecordFrame {
  static final int MAGIC = 0x54524A46;
  static final int HEADER_BYTES = 28;
  private static final int CHECKSUM_AT = 24;

  private RecordFrame() {}

  static int bytes(byte[] payload) {
    return HEADER_BYTES + payload.length;
  }

  static void encode(JournalRecord record, long salt, ByteBuffer out) {
    int start = out.position();
    out.putInt(MAGIC)
        .putInt(record.payload().length)
        .putLong(record.sequence())
        .putLong(record.epoch());
    out.putInt(checksum(salt, out.slice(start, CHECKSUM_AT), ByteBuffer.wrap(record.payload())));
    out.put(record.payload());
  }

  /** Whether header and payload, both whole, carry the checksum they should. */
  static boolean intact(long salt, ByteBuffer frame) {
    int payload = frame.remaining() - HEADER_BYTES;
    int start = frame.position();
    return frame.getInt(start + CHECKSUM_AT)
        == checksum(
            salt, frame.slice(start, CHECKSUM_AT), frame.slice(start + HEADER_BYTES, payload));
  }

  static JournalRecord decode(ByteBuffer frame) {
    int start = frame.position();
    byte[] payload = new byte[frame.remaining() - HEADER_BYTES];
    frame.get(start + HEADER_BYTES, payload);
    return new JournalRecord(frame.getLong(start + 8), frame.getLong(start + 16), payload);
  }

  private static int checksum(long salt, ByteBuffer header, ByteBuffer payload) {
    CRC32C crc = new CRC32C();
    crc.update(ByteBuffer.allocate(Long.BYTES).putLong(salt).flip());
    crc.update(header);
    crc.update(payload);
    return (int) crc.getValue();
  }
}
