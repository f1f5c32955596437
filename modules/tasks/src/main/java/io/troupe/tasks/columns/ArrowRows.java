package io.troupe.tasks.columns;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import org.apache.arrow.flatbuf.DictionaryBatch;
import org.apache.arrow.flatbuf.Endianness;
import org.apache.arrow.flatbuf.Field;
import org.apache.arrow.flatbuf.Message;
import org.apache.arrow.flatbuf.MessageHeader;
import org.apache.arrow.flatbuf.RecordBatch;
import org.apache.arrow.flatbuf.Schema;

/**
 * Rows of Arrow IPC files and streams (Apache Arrow columnar format 1.5, "Serialization and
 * interprocess communication"): structs and maps become objects, lists arrays, absent values null;
 * {@link ColumnCells} says what other values become.
 *
 * <p>A file is a stream between two magic words and a directory, so both are read as streams. Only
 * the generated metadata classes of Arrow are used: Arrow's vectors need flags of the virtual
 * machine.
 */
public final class ArrowRows {
  private static final String MAGIC = "ARROW1";
  private static final int FILE_MAGIC = 8;
  private static final int CONTINUATION = -1;
  private static final int MOST_DEPTH = 64;
  private static final int MOST_FIELDS = 10_000;

  private final Path file;
  private final BiConsumer<String, ObjectNode> rows;
  private final Map<Long, ArrowColumn> dictionaries = new HashMap<>();
  private final Map<Long, Field> encoded = new HashMap<>();
  private final List<Field> fields = new ArrayList<>();
  private final Map<Long, Integer> lengths = new HashMap<>();
  private final ColumnCells cells;
  private short version;
  private int row;
  private int noted;

  private ArrowRows(Path file, BiConsumer<String, ObjectNode> rows) {
    this.file = file;
    this.rows = rows;
    this.cells = new ColumnCells(file.toString(), "");
  }

  /**
   * Reads all rows.
   *
   * @param rows receives the place and the fields of each
   * @throws ColumnException if the file is damaged
   */
  public static void read(Path file, BiConsumer<String, ObjectNode> rows) throws IOException {
    try (FileChannel channel = FileChannel.open(file)) {
      new ArrowRows(file, rows).read(channel);
    }
  }

  private void read(FileChannel channel) throws IOException {
    ByteBuffer first = bytes(channel, 4);
    boolean stream = first.getInt(0) == CONTINUATION;
    if (!stream && !endsWithMagic(channel)) {
      throw damaged("it is cut off: its end is not that of an Arrow file");
    }
    channel.position(stream ? 0 : FILE_MAGIC);
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
      batch.forEach(each -> rows.accept("%s:%d".formatted(file, ++row), each));
    }
  }

  private static boolean endsWithMagic(FileChannel channel) throws IOException {
    byte[] magic = MAGIC.getBytes(StandardCharsets.US_ASCII);
    if (channel.size() < FILE_MAGIC + magic.length) {
      return false;
    }
    channel.position(channel.size() - magic.length);
    return Arrays.equals(bytes(channel, magic.length).array(), magic);
  }

  /**
   * Returns 0 at the end: at the end mark of a stream, or at the end of the file if a writer
   * omitted the mark.
   */
  private int metadataLength(FileChannel channel) throws IOException {
    if (channel.size() == channel.position()) {
      return 0;
    }
    if (channel.size() - channel.position() < 8) {
      throw damaged("it is cut off");
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
        if (schema.endianness() != Endianness.Little) {
          throw new ColumnException(
              "%s: the Arrow file has big-endian numbers, which cannot be read; convert it to JSON Lines"
                  .formatted(file));
        }
        version = message.version();
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

  /** A dictionary that is there already is replaced, or a delta is added to its end. */
  private void dictionary(DictionaryBatch batch, ByteBuffer body) {
    Field field = encoded.get(batch.id());
    if (field == null) {
      throw new IllegalArgumentException("a dictionary belongs to no column");
    }
    ArrowColumn more =
        columns(batch.data(), body).plain(field, cells.member(String.valueOf(field.name())));
    int length = Math.toIntExact(batch.data().length());
    ArrowColumn earlier = dictionaries.get(batch.id());
    if (!batch.isDelta() || earlier == null) {
      dictionaries.put(batch.id(), more);
      lengths.put(batch.id(), length);
    } else {
      int from = lengths.merge(batch.id(), length, Math::addExact) - length;
      dictionaries.put(batch.id(), row -> row < from ? earlier.at(row) : more.at(row - from));
    }
  }

  private ArrowColumns columns(RecordBatch batch, ByteBuffer body) {
    return new ArrowColumns(new ArrowBuffers(batch, body), dictionaries, version);
  }

  private List<ObjectNode> batch(RecordBatch batch, ByteBuffer body) {
    ArrowColumns columns = columns(batch, body);
    Map<String, ArrowColumn> byName = columns.members(fields, cells);
    columns.spend(batch.length());
    List<ObjectNode> objects = new ArrayList<>();
    for (int i = 0; i < batch.length(); i++) {
      ObjectNode object = CellNodes.INSTANCE.objectNode();
      int at = i;
      byName.forEach((name, column) -> object.set(name, cell(name, column, at)));
      objects.add(object);
    }
    return objects;
  }

  private static JsonNode cell(String name, ArrowColumn column, int row) {
    try {
      return column.at(row);
    } catch (IndexOutOfBoundsException
        | IllegalArgumentException
        | ArithmeticException
        | NegativeArraySizeException damage) {
      throw new IllegalArgumentException(
          "in the column \"%s\": %s".formatted(name, damage.getMessage()), damage);
    }
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

  private ColumnException damaged(String why) {
    return new ColumnException(
        "%s: the Arrow file is damaged (%s); fetch or write it again".formatted(file, why));
  }
}
