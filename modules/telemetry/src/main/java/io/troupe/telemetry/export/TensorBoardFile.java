package io.troupe.telemetry.export;

import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.zip.CRC32C;

/**
 * Numbers and texts as TensorBoard reads them: TFRecord frames around {@code tensorflow.Event}
 * messages, of which only the fields that scalars and texts need are written. Each call appends
 * whole frames, so that a TensorBoard that reads the file meanwhile sees whole events.
 */
public final class TensorBoardFile implements Closeable {
  private static final int CRC_MASK = 0xa282ead8;
  private static final int STRING_TYPE = 7;
  private static final int TENSOR_DATA = 2;

  private final FileChannel out;

  private TensorBoardFile(FileChannel out) {
    this.out = out;
  }

  /**
   * Makes an event file in a folder, which is made if absent.
   *
   * @param seconds since 1970 at which the run began
   */
  public static TensorBoardFile create(Path folder, double seconds) throws IOException {
    Files.createDirectories(folder);
    return create(folder, name((long) Math.floor(seconds)), seconds);
  }

  /**
   * Makes an event file.
   *
   * @param seconds since 1970
   */
  public static TensorBoardFile create(Path folder, String name, double seconds)
      throws IOException {
    FileChannel out =
        FileChannel.open(
            folder.resolve(name),
            StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING,
            StandardOpenOption.WRITE);
    TensorBoardFile made = new TensorBoardFile(out);
    made.append(new ProtobufMessage().fixed64(1, seconds).text(3, "brain.Event:2"));
    return made;
  }

  /**
   * The name of an event file; TensorBoard reads those of a folder in the order of their names.
   *
   * @param seconds since 1970
   */
  public static String name(long seconds) {
    return "events.out.tfevents.%010d.troupe".formatted(seconds);
  }

  /**
   * Writes numbers.
   *
   * @param seconds since 1970
   */
  public void numbers(double seconds, long step, Map<String, Double> values) throws IOException {
    ProtobufMessage summary = new ProtobufMessage();
    values.forEach(
        (name, value) ->
            summary.message(1, new ProtobufMessage().text(1, name).fixed32(2, value.floatValue())));
    append(event(seconds, step, summary));
  }

  /**
   * Writes a text, which TensorBoard shows as Markdown.
   *
   * @param seconds since 1970
   */
  public void text(double seconds, long step, String name, String markdown) throws IOException {
    ProtobufMessage shape =
        new ProtobufMessage().message(2, new ProtobufMessage().varint(1, 1)); // one text
    ProtobufMessage tensor =
        new ProtobufMessage().varint(1, STRING_TYPE).message(2, shape).text(8, markdown);
    ProtobufMessage metadata =
        new ProtobufMessage()
            .message(1, new ProtobufMessage().text(1, "text"))
            .varint(4, TENSOR_DATA);
    ProtobufMessage value =
        new ProtobufMessage().text(1, name).message(8, tensor).message(9, metadata);
    append(event(seconds, step, new ProtobufMessage().message(1, value)));
  }

  private static ProtobufMessage event(double seconds, long step, ProtobufMessage summary) {
    return new ProtobufMessage().fixed64(1, seconds).varint(2, step).message(5, summary);
  }

  /** Makes everything written durable, and returns the length of the file. */
  public long sync() throws IOException {
    out.force(true);
    return out.position();
  }

  private void append(ProtobufMessage event) throws IOException {
    byte[] message = event.toBytes();
    byte[] length =
        ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(message.length).array();
    ByteArrayOutputStream frame = new ByteArrayOutputStream();
    frame.writeBytes(length);
    frame.writeBytes(masked(length));
    frame.writeBytes(message);
    frame.writeBytes(masked(message));
    ByteBuffer bytes = ByteBuffer.wrap(frame.toByteArray());
    while (bytes.hasRemaining()) {
      out.write(bytes);
    }
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
}
