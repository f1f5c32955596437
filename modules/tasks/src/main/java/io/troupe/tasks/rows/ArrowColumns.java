package io.troupe.tasks.rows;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.IntToLongFunction;
import org.apache.arrow.flatbuf.Buffer;
import org.apache.arrow.flatbuf.Date;
import org.apache.arrow.flatbuf.DateUnit;
import org.apache.arrow.flatbuf.Field;
import org.apache.arrow.flatbuf.FixedSizeList;
import org.apache.arrow.flatbuf.FloatingPoint;
import org.apache.arrow.flatbuf.Int;
import org.apache.arrow.flatbuf.Precision;
import org.apache.arrow.flatbuf.RecordBatch;
import org.apache.arrow.flatbuf.Type;

/** Reads the columns of a batch from its buffers, which are in the order of the fields. */
final class ArrowColumns {
  private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

  /** A cell takes at least a bit; the rest of the limit is for cells that dictionaries repeat. */
  private static final int CELLS_PER_BYTE = 64;

  private final RecordBatch batch;
  private final ByteBuffer body;
  private final Map<Long, ArrowColumn> dictionaries;
  private int nextBuffer;
  private long cellsLeft;

  ArrowColumns(RecordBatch batch, ByteBuffer body, Map<Long, ArrowColumn> dictionaries) {
    if (batch.compression() != null) {
      throw new IllegalArgumentException("its buffers are compressed");
    }
    this.batch = batch;
    this.body = body;
    this.dictionaries = dictionaries;
    this.cellsLeft = CELLS_PER_BYTE * (body.capacity() + 1_024L);
  }

  /**
   * Subtracts a number of rows or items from the number that a batch of this size can hold. Without
   * this limit damaged lengths would let a small file fill the memory.
   */
  void spend(long cells) {
    cellsLeft = Math.subtractExact(cellsLeft, Math.max(0, cells));
    if (cellsLeft < 0) {
      throw new IllegalArgumentException("it claims more rows or items than it has room for");
    }
  }

  /** Returns the next column, which belongs to the field. */
  ArrowColumn next(Field field) {
    if (field.dictionary() == null) {
      return plain(field);
    }
    Int indexType = field.dictionary().indexType();
    ByteBuffer validity = buffer();
    ByteBuffer data = buffer();
    int bits = indexType == null ? 32 : indexType.bitWidth();
    IntToLongFunction index = integers(data, bits, indexType == null || indexType.isSigned());
    ArrowColumn values = dictionaries.get(field.dictionary().id());
    if (values == null) {
      throw new IllegalArgumentException("the column " + field.name() + " lacks its dictionary");
    }
    return valid(validity, row -> values.at(Math.toIntExact(index.applyAsLong(row))));
  }

  /** Returns the next column without resolving dictionary indices. */
  ArrowColumn plain(Field field) {
    return switch (field.typeType()) {
      case Type.Null -> _ -> NODES.nullNode();
      case Type.Bool -> {
        ByteBuffer validity = buffer();
        ByteBuffer bits = buffer();
        yield valid(validity, row -> NODES.booleanNode(bit(bits, row)));
      }
      case Type.Int -> {
        Int type = (Int) field.type(new Int());
        yield integers(type.bitWidth(), type.isSigned());
      }
      case Type.Timestamp, Type.Duration -> integers(64, true);
      case Type.Date -> {
        Date type = (Date) field.type(new Date());
        yield integers(type.unit() == DateUnit.DAY ? 32 : 64, true);
      }
      case Type.FloatingPoint -> {
        FloatingPoint type = (FloatingPoint) field.type(new FloatingPoint());
        yield floats(field, type.precision());
      }
      case Type.Utf8, Type.Binary -> texts(32);
      case Type.LargeUtf8, Type.LargeBinary -> texts(64);
      case Type.List -> lists(field, 32);
      case Type.LargeList -> lists(field, 64);
      case Type.FixedSizeList -> {
        ByteBuffer validity = buffer();
        int size = ((FixedSizeList) field.type(new FixedSizeList())).listSize();
        ArrowColumn items = next(field.children(0));
        yield valid(validity, row -> array(items, (long) row * size, (row + 1L) * size));
      }
      case Type.Struct_ -> struct(field);
      default ->
          throw new IllegalArgumentException(
              "the column %s is of type %s".formatted(field.name(), Type.name(field.typeType())));
    };
  }

  private ArrowColumn integers(int bits, boolean signed) {
    ByteBuffer validity = buffer();
    IntToLongFunction integers = integers(buffer(), bits, signed);
    return valid(validity, row -> NODES.numberNode(integers.applyAsLong(row)));
  }

  private ArrowColumn floats(Field field, short precision) {
    ByteBuffer validity = buffer();
    ByteBuffer data = buffer();
    return switch (precision) {
      case Precision.SINGLE -> valid(validity, row -> NODES.numberNode(data.getFloat(4 * row)));
      case Precision.DOUBLE -> valid(validity, row -> NODES.numberNode(data.getDouble(8 * row)));
      default ->
          throw new IllegalArgumentException(
              "the column %s has floats of 16 bits".formatted(field.name()));
    };
  }

  private ArrowColumn texts(int offsetBits) {
    ByteBuffer validity = buffer();
    IntToLongFunction offsets = integers(buffer(), offsetBits, true);
    ByteBuffer data = buffer();
    return valid(
        validity,
        row -> {
          int from = Math.toIntExact(offsets.applyAsLong(row));
          int length = Math.toIntExact(offsets.applyAsLong(row + 1)) - from;
          Objects.checkFromIndexSize(from, length, data.capacity());
          byte[] bytes = new byte[length];
          data.get(from, bytes);
          return NODES.textNode(new String(bytes, StandardCharsets.UTF_8));
        });
  }

  private ArrowColumn lists(Field field, int offsetBits) {
    ByteBuffer validity = buffer();
    IntToLongFunction offsets = integers(buffer(), offsetBits, true);
    ArrowColumn items = next(field.children(0));
    return valid(
        validity, row -> array(items, offsets.applyAsLong(row), offsets.applyAsLong(row + 1)));
  }

  private ArrowColumn struct(Field field) {
    ByteBuffer validity = buffer();
    Map<String, ArrowColumn> members = new LinkedHashMap<>();
    for (int i = 0; i < field.childrenLength(); i++) {
      members.put(String.valueOf(field.children(i).name()), next(field.children(i)));
    }
    return valid(
        validity,
        row -> {
          ObjectNode object = NODES.objectNode();
          members.forEach((name, member) -> object.set(name, member.at(row)));
          return object;
        });
  }

  private ArrayNode array(ArrowColumn items, long from, long to) {
    spend(Math.subtractExact(to, from));
    ArrayNode array = NODES.arrayNode();
    for (long i = from; i < to; i++) {
      array.add(items.at(Math.toIntExact(i)));
    }
    return array;
  }

  /**
   * Returns a column that is null where the validity bit is 0; without a validity buffer all values
   * are valid.
   */
  private static ArrowColumn valid(ByteBuffer validity, ArrowColumn values) {
    return validity.capacity() == 0
        ? values
        : row -> bit(validity, row) ? values.at(row) : nothing();
  }

  private static JsonNode nothing() {
    return NODES.nullNode();
  }

  private static boolean bit(ByteBuffer bits, int row) {
    return (bits.get(row >>> 3) >>> (row & 7) & 1) == 1;
  }

  private static IntToLongFunction integers(ByteBuffer data, int bits, boolean signed) {
    return switch (bits) {
      case 8 -> row -> signed ? data.get(row) : Byte.toUnsignedLong(data.get(row));
      case 16 ->
          row -> signed ? data.getShort(2 * row) : Short.toUnsignedLong(data.getShort(2 * row));
      case 32 ->
          row -> signed ? data.getInt(4 * row) : Integer.toUnsignedLong(data.getInt(4 * row));
      case 64 -> row -> data.getLong(8 * row);
      default -> throw new IllegalArgumentException("integers have no %d bits".formatted(bits));
    };
  }

  private ByteBuffer buffer() {
    if (nextBuffer >= batch.buffersLength()) {
      throw new IllegalArgumentException("a buffer is missing");
    }
    Buffer described = batch.buffers(nextBuffer++);
    return body.slice(Math.toIntExact(described.offset()), Math.toIntExact(described.length()))
        .order(ByteOrder.LITTLE_ENDIAN);
  }
}
