package io.troupe.tasks.columns;

import com.fasterxml.jackson.databind.JsonNode;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.IntToLongFunction;
import org.apache.arrow.flatbuf.Date;
import org.apache.arrow.flatbuf.DateUnit;
import org.apache.arrow.flatbuf.Decimal;
import org.apache.arrow.flatbuf.Duration;
import org.apache.arrow.flatbuf.Field;
import org.apache.arrow.flatbuf.FixedSizeBinary;
import org.apache.arrow.flatbuf.FloatingPoint;
import org.apache.arrow.flatbuf.Int;
import org.apache.arrow.flatbuf.Interval;
import org.apache.arrow.flatbuf.IntervalUnit;
import org.apache.arrow.flatbuf.Precision;
import org.apache.arrow.flatbuf.Time;
import org.apache.arrow.flatbuf.Timestamp;
import org.apache.arrow.flatbuf.Type;

/** Reads the values of columns whose types hold no other columns; validity is not looked at. */
final class ArrowValues {
  private static final CellNodes NODES = CellNodes.INSTANCE;
  private static final long MILLIS_OF_DAY = 86_400_000;
  private static final int VIEW = 16;
  private static final int MOST_INLINE = 12;

  private ArrowValues() {}

  /** Returns a column whose type holds no other column. */
  static ArrowColumn of(Field field, ArrowBuffers buffers, ColumnCells cells) {
    return switch (field.typeType()) {
      case Type.Bool -> {
        ByteBuffer bits = buffers.next();
        yield row -> NODES.booleanNode(bit(bits, row));
      }
      case Type.Int -> {
        Int type = (Int) field.type(new Int());
        yield numbers(buffers.next(), type, ArrowFields.extension(field));
      }
      case Type.FloatingPoint -> {
        FloatingPoint type = (FloatingPoint) field.type(new FloatingPoint());
        yield floats(buffers.next(), type.precision());
      }
      case Type.Decimal -> {
        Decimal type = (Decimal) field.type(new Decimal());
        yield decimals(buffers.next(), type, cells);
      }
      case Type.Date, Type.Time, Type.Timestamp, Type.Duration ->
          dated(field, buffers.next(), cells);
      case Type.Interval -> intervals(field, buffers.next(), cells);
      case Type.FixedSizeBinary -> {
        int size = ((FixedSizeBinary) field.type(new FixedSizeBinary())).byteWidth();
        ByteBuffer data = buffers.next();
        yield bytes(field, cells, row -> slice(data, (long) row * size, size));
      }
      case Type.Utf8, Type.Binary -> bytes(field, cells, offsets(buffers, Integer.SIZE));
      case Type.LargeUtf8, Type.LargeBinary -> bytes(field, cells, offsets(buffers, Long.SIZE));
      case Type.Utf8View, Type.BinaryView -> bytes(field, cells, views(buffers));
      default ->
          throw new IllegalArgumentException("type " + field.typeType() + " is not one value");
    };
  }

  static boolean bit(ByteBuffer bits, int row) {
    return (bits.get(row >>> 3) >>> (row & 7) & 1) == 1;
  }

  /** Returns the whole numbers of a buffer; those of 64 bits have a sign. */
  static IntToLongFunction integers(ByteBuffer data, int bits, boolean signed) {
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

  private static ArrowColumn numbers(ByteBuffer data, Int type, String extension) {
    IntToLongFunction values = integers(data, type.bitWidth(), type.isSigned());
    if (extension.equals(ArrowFields.BOOL8)) {
      return row -> NODES.booleanNode(values.applyAsLong(row) != 0);
    }
    return type.isSigned() || type.bitWidth() < Long.SIZE
        ? row -> NODES.numberNode(values.applyAsLong(row))
        : row -> CellNodes.unsigned(values.applyAsLong(row));
  }

  private static ArrowColumn floats(ByteBuffer data, short precision) {
    return switch (precision) {
      case Precision.HALF -> row -> CellNodes.half(data.getShort(2 * row));
      case Precision.SINGLE -> row -> NODES.numberNode(data.getFloat(4 * row));
      case Precision.DOUBLE -> row -> NODES.numberNode(data.getDouble(8 * row));
      default ->
          throw new IllegalArgumentException("floats have the unknown precision " + precision);
    };
  }

  private static ArrowColumn decimals(ByteBuffer data, Decimal type, ColumnCells cells) {
    int size = type.bitWidth() / Byte.SIZE;
    int scale = type.scale();
    return row -> {
      byte[] digits = slice(data, (long) row * size, size);
      for (int i = 0; i < size / 2; i++) { // BigInteger takes the highest byte first
        byte low = digits[i];
        digits[i] = digits[size - 1 - i];
        digits[size - 1 - i] = low;
      }
      return cells.decimal(new BigInteger(digits), scale);
    };
  }

  private static ArrowColumn dated(Field field, ByteBuffer data, ColumnCells cells) {
    return switch (field.typeType()) {
      case Type.Date -> {
        boolean days = ((Date) field.type(new Date())).unit() == DateUnit.DAY;
        IntToLongFunction values = integers(data, days ? Integer.SIZE : Long.SIZE, true);
        yield days
            ? row -> cells.date(values.applyAsLong(row))
            : row -> cells.date(Math.floorDiv(values.applyAsLong(row), MILLIS_OF_DAY));
      }
      case Type.Time -> {
        Time type = (Time) field.type(new Time());
        IntToLongFunction values = integers(data, type.bitWidth(), true);
        long perSecond = ArrowFields.perSecond(type.unit());
        yield row -> cells.time(values.applyAsLong(row), perSecond);
      }
      case Type.Duration -> {
        IntToLongFunction values = integers(data, Long.SIZE, true);
        long perSecond = ArrowFields.perSecond(((Duration) field.type(new Duration())).unit());
        yield row -> cells.duration(values.applyAsLong(row), perSecond);
      }
      default -> {
        Timestamp type = (Timestamp) field.type(new Timestamp());
        IntToLongFunction values = integers(data, Long.SIZE, true);
        long perSecond = ArrowFields.perSecond(type.unit());
        String zone = type.timezone() == null ? "" : type.timezone();
        yield zone.isEmpty()
            ? row -> cells.timestamp(values.applyAsLong(row), perSecond)
            : row -> cells.timestamp(values.applyAsLong(row), perSecond, zone);
      }
    };
  }

  private static ArrowColumn intervals(Field field, ByteBuffer data, ColumnCells cells) {
    return switch (((Interval) field.type(new Interval())).unit()) {
      case IntervalUnit.YEAR_MONTH -> row -> cells.interval(data.getInt(4 * row), 0, 0);
      case IntervalUnit.DAY_TIME ->
          row -> cells.interval(0, data.getInt(8 * row), data.getInt(8 * row + 4) * 1_000_000L);
      default ->
          row ->
              cells.interval(
                  data.getInt(16 * row), data.getInt(16 * row + 4), data.getLong(16 * row + 8));
    };
  }

  private static ArrowColumn bytes(Field field, ColumnCells cells, IntFunction<byte[]> bytes) {
    Function<byte[], JsonNode> value =
        switch (ArrowFields.extension(field)) {
          case ArrowFields.JSON -> cells::json;
          case ArrowFields.UUID -> cells::uuid;
          default -> cells::text;
        };
    return row -> value.apply(bytes.apply(row));
  }

  private static IntFunction<byte[]> offsets(ArrowBuffers buffers, int bits) {
    IntToLongFunction offsets = integers(buffers.next(), bits, true);
    ByteBuffer data = buffers.next();
    return row -> {
      long from = offsets.applyAsLong(row);
      return slice(data, from, offsets.applyAsLong(row + 1) - from);
    };
  }

  /** A view holds short bytes itself, else the number of a buffer and a place there. */
  private static IntFunction<byte[]> views(ArrowBuffers buffers) {
    ByteBuffer views = buffers.next();
    ByteBuffer[] data = new ByteBuffer[Math.min(buffers.count(), Short.MAX_VALUE)];
    for (int i = 0; i < data.length; i++) {
      data[i] = buffers.next();
    }
    return row -> {
      int at = VIEW * row;
      int length = views.getInt(at);
      return length <= MOST_INLINE
          ? slice(views, at + 4, length)
          : slice(data[views.getInt(at + 8)], views.getInt(at + 12), length);
    };
  }

  private static byte[] slice(ByteBuffer data, long from, long length) {
    Objects.checkFromIndexSize(from, length, data.capacity());
    byte[] bytes = new byte[(int) length];
    data.get((int) from, bytes);
    return bytes;
  }
}
