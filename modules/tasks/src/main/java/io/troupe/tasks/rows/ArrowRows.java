package io.troupe.tasks.rows;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.arrow.flatbuf.DictionaryBatch;
import org.apache.arrow.flatbuf.Field;
import org.apache.arrow.flatbuf.Message;
import org.apache.arrow.flatbuf.MessageHeader;
import org.apache.arrow.flatbuf.RecordBatch;
import org.apache.arrow.flatbuf.Schema;

/**
 * Rows of Arrow IPC files and streams (Apache Arrow columnar format 1.5, "Serialization and
 * interprocess communication"): structs become objects, lists arrays, absent values null; dates and
 * times keep their stored numbers.
 *
 * <p>A file is a stream between two magic words and a directory, so both are read as streams. Only
 * the generated metadata classes of Arrow are used: Arrow's vectors need flags of the virtual
 * machine.
 */
final class ArrowRows {
  private static final int FILE_MAGIC = 8;
  private static final int CONTINUATION = -1;
  private static final int MOST_DEPTH = 64;
  private static final int MOST_FIELDS = 10_000;

  private final Path file;
  private final RowFiles rows;
  private final Map<Long, ArrowColumn> dictionaries = new HashMap<>();
  private final Map<Long, Field> encoded = new HashMap<>();
  private final List<Field> fields = new ArrayList<>();
  private int row;
  private int noted;

  private ArrowRows(Path file, RowFiles rows) {
    this.file = file;
    this.rows = rows;
  }

  /** Reads all rows. */
  static void read(Path file, RowFiles rows) throws IOException {
    try (FileChannel channel = FileChannel.open(file)) {
      new ArrowRows(file, rows).read(channel);
    }
  }

  private void read(FileChannel channel) throws IOException {
    ByteBuffer first = bytes(channel, 4);
    channel.position(first.getInt(0) == CONTINUATION ? 0 : FILE_MAGIC);
    for (int length = metadataLength(channel); length > 0; length = metadataLength(channel)) {
      List<ObjectNode> batch;
      try {
        Message message = Message.getRootAsMessage(bytes(channel, length));
        batch = message(message, bytes(channel, Math.toIntExact(message.bodyLength())));
      } catch (EOFException cut) {
        throw damaged("it is cut off");
      } catch (IndexOutOfBoundsException
          | IllegalArgumentException
          | ArithmeticException
          | NegativeArraySizeException
          | ClassCastException damage) {
        throw damaged(String.valueOf(damage.getMessage()));
      }
      batch.forEach(each -> rows.row("%s:%d".formatted(file, ++row), each));
    }
  }

  /**
   * Returns 0 at the end: at the end mark of a stream, or at the end of the file if a writer
   * omitted the mark.
   */
  private int metadataLength(FileChannel channel) throws IOException {
    if (channel.size() - channel.position() < 8) {
      return 0;
    }
    ByteBuffer prefix = bytes(channel, 8);
    if (prefix.getInt(0) != CONTINUATION) {
      throw damaged("a message is not where one must begin");
    }
    return prefix.getInt(4);
  }

  private List<ObjectNode> message(Message message, ByteBuffer body) {
    return switch (message.headerType()) {
      case MessageHeader.Schema -> {
        Schema schema = (Schema) message.header(new Schema());
        for (int i = 0; i < schema.fieldsLength(); i++) {
          fields.add(schema.fields(i));
          note(schema.fields(i), 0);
        }
        yield List.of();
      }
      case MessageHeader.DictionaryBatch -> {
        dictionary((DictionaryBatch) message.header(new DictionaryBatch()), body);
        yield List.of();
      }
      case MessageHeader.RecordBatch ->
          batch((RecordBatch) message.header(new RecordBatch()), body);
      default -> List.of();
    };
  }

  /**
   * Collects dictionaries within bounds, because the schema of a damaged file may contain itself.
   */
  private void note(Field field, int depth) {
    if (depth > MOST_DEPTH || ++noted > MOST_FIELDS) {
      throw new IllegalArgumentException("its schema has no end");
    }
    if (field.dictionary() != null) {
      encoded.put(field.dictionary().id(), field);
    }
    for (int i = 0; i < field.childrenLength(); i++) {
      note(field.children(i), depth + 1);
    }
  }

  private void dictionary(DictionaryBatch batch, ByteBuffer body) {
    Field field = encoded.get(batch.id());
    if (field == null || batch.isDelta()) {
      throw new IllegalArgumentException("its dictionaries change, which cannot be read");
    }
    ArrowColumns columns = new ArrowColumns(batch.data(), body, dictionaries);
    dictionaries.put(batch.id(), columns.plain(field));
  }

  private List<ObjectNode> batch(RecordBatch batch, ByteBuffer body) {
    ArrowColumns columns = new ArrowColumns(batch, body, dictionaries);
    Map<String, ArrowColumn> byName = new LinkedHashMap<>();
    fields.forEach(field -> byName.put(String.valueOf(field.name()), columns.next(field)));
    columns.spend(batch.length());
    List<ObjectNode> objects = new ArrayList<>();
    for (int i = 0; i < batch.length(); i++) {
      ObjectNode object = RowJson.object();
      int at = i;
      byName.forEach((name, column) -> object.set(name, column.at(at)));
      objects.add(object);
    }
    return objects;
  }

  private static ByteBuffer bytes(FileChannel channel, int length) throws IOException {
    if (length > channel.size() - channel.position()) {
      throw new EOFException();
    }
    ByteBuffer buffer = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
    while (buffer.hasRemaining()) {
      if (channel.read(buffer) < 0) {
        throw new EOFException();
      }
    }
    return buffer.flip();
  }

  private TaskDataException damaged(String why) {
    return new TaskDataException(
        "%s: the Arrow file is damaged or of a kind that cannot be read (%s); fetch it again, or"
                .formatted(file, why)
            + " convert it to JSON Lines");
  }
}
