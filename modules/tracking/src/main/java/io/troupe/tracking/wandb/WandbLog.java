package io.troupe.tracking.wandb;

import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.zip.CRC32;

/**
 * A file of records as the offline mode of Weights and Biases writes it: a header of 7 bytes, and
 * LevelDB's log format behind it, in blocks of 32 KiB of which the first one includes the header. A
 * record is one chunk, or several where it crosses a block's end; a chunk has the CRC-32 of its
 * type and payload, its length and its type.
 */
final class WandbLog implements Closeable {
  private static final byte[] HEADER = {':', 'W', '&', 'B', (byte) 0xE1, (byte) 0xBE, 0};
  private static final int BLOCK = 32 << 10;
  private static final int CHUNK_HEADER = 7;
  private static final int WHOLE = 1;
  private static final int FIRST = 2;
  private static final int MIDDLE = 3;
  private static final int LAST = 4;

  private final FileChannel channel;
  private final ByteArrayOutputStream pending = new ByteArrayOutputStream();
  private long position;

  private WandbLog(FileChannel channel, long position) {
    this.channel = channel;
    this.position = position;
  }

  /**
   * Opens a file behind the records that it is known to hold; what follows them is cut off.
   *
   * @param length of the file with these records; 0 makes a new file
   */
  static WandbLog open(Path file, long length) throws IOException {
    FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    channel.truncate(length);
    channel.position(length);
    WandbLog log = new WandbLog(channel, length);
    if (length == 0) {
      log.put(HEADER);
    }
    return log;
  }

  /** Adds a record, which {@link #sync} writes. */
  void add(byte[] record) {
    int offset = 0;
    boolean first = true;
    do {
      int left = BLOCK - (int) (position % BLOCK);
      if (left < CHUNK_HEADER) {
        put(new byte[left]);
        left = BLOCK;
      }
      int length = Math.min(record.length - offset, left - CHUNK_HEADER);
      boolean last = offset + length == record.length;
      chunk(first ? (last ? WHOLE : FIRST) : (last ? LAST : MIDDLE), record, offset, length);
      offset += length;
      first = false;
    } while (offset < record.length);
  }

  private void chunk(int type, byte[] record, int offset, int length) {
    CRC32 crc = new CRC32();
    crc.update(type);
    crc.update(record, offset, length);
    ByteBuffer chunk = ByteBuffer.allocate(CHUNK_HEADER + length).order(ByteOrder.LITTLE_ENDIAN);
    chunk.putInt((int) crc.getValue()).putShort((short) length).put((byte) type);
    chunk.put(record, offset, length);
    put(chunk.array());
  }

  private void put(byte[] bytes) {
    pending.writeBytes(bytes);
    position += bytes.length;
  }

  /** Writes what was added, durable when it returns, and returns the length of the file. */
  long sync() throws IOException {
    ByteBuffer bytes = ByteBuffer.wrap(pending.toByteArray());
    while (bytes.hasRemaining()) {
      channel.write(bytes);
    }
    pending.reset();
    channel.force(true);
    return position;
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
