package io.troupe.telemetry.export;

import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.zip.CRC32C;

/**
 * Rows of metrics as TensorBoard reads them: TFRecord frames around {@code tensorflow.Event}
 * messages, of which only the four fields that a scalar needs are written.
 */
public final class TensorBoardFile implements Closeable {
  private static final int CRC_MASK = 0xa282ead8;

  private final OutputStream out;

  private TensorBoardFile(OutputStream out) {
    this.out = out;
  }

  /**
   * Makes an event file in a folder, which is made if absent.
   *
   * @param seconds since 1970 at which the run began
   */
  public static TensorBoardFile create(Path folder, double seconds) throws IOException {
    Files.createDirectories(folder);
    Path file =
        folder.resolve("events.out.tfevents.%010d.troupe".formatted((long) Math.floor(seconds)));
    TensorBoardFile made =
        new TensorBoardFile(new BufferedOutputStream(Files.newOutputStream(file)));
    Message head = new Message();
    head.fixed64(1, seconds);
    head.bytes(3, "brain.Event:2".getBytes(StandardCharsets.UTF_8));
    made.record(head.toBytes());
    return made;
  }

  /**
   * Writes the numbers of a row; words and what is not finite are left out.
   *
   * @param seconds since 1970
   */
  public void row(double seconds, long step, Map<String, Object> values) throws IOException {
    Message summary = new Message();
    for (Map.Entry<String, Object> value : values.entrySet()) {
      if (value.getValue() instanceof Number number
          && Double.isFinite(number.doubleValue())
          && !value.getKey().equals("step")) {
        Message scalar = new Message();
        scalar.bytes(1, ("troupe/" + value.getKey()).getBytes(StandardCharsets.UTF_8));
        scalar.fixed32(2, number.floatValue());
        summary.bytes(1, scalar.toBytes());
      }
    }
    Message event = new Message();
    event.fixed64(1, seconds);
    event.varint(2, step);
    event.bytes(5, summary.toBytes());
    record(event.toBytes());
  }

  private void record(byte[] message) throws IOException {
    byte[] length =
        ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(message.length).array();
    out.write(length);
    out.write(masked(length));
    out.write(message);
    out.write(masked(message));
  }

  /** The checksum as TFRecord has it: rotated and shifted, so that data may hold checksums. */
  private static byte[] masked(byte[] bytes) {
    CRC32C crc = new CRC32C();
    crc.update(bytes, 0, bytes.length);
    int value = (int) crc.getValue();
    int masked = Integer.rotateRight(value, 15) + CRC_MASK;
    return ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putInt(masked).array();
  }

  @Override
  public void close() throws IOException {
    out.close();
  }

  /** A protocol buffer message, field by field. */
  private static final class Message {
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    void varint(int field, long value) {
      raw((long) field << 3);
      raw(value);
    }

    void fixed64(int field, double value) {
      raw(((long) field << 3) | 1);
      bytes.writeBytes(
          ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putDouble(value).array());
    }

    void fixed32(int field, float value) {
      raw(((long) field << 3) | 5);
      bytes.writeBytes(
          ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putFloat(value).array());
    }

    void bytes(int field, byte[] value) {
      raw(((long) field << 3) | 2);
      raw(value.length);
      bytes.writeBytes(value);
    }

    byte[] toBytes() {
      return bytes.toByteArray();
    }

    private void raw(long value) {
      long rest = value;
      while ((rest & ~0x7fL) != 0) {
        bytes.write((int) ((rest & 0x7f) | 0x80));
        rest >>>= 7;
      }
      bytes.write((int) rest);
    }
  }
}
