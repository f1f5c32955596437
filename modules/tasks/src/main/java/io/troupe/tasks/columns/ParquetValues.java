package io.troupe.tasks.columns;

import com.fasterxml.jackson.databind.JsonNode;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;
import java.util.function.Function;
import org.apache.arrow.flatbuf.Duration;
import org.apache.arrow.flatbuf.Field;
import org.apache.arrow.flatbuf.Timestamp;
import org.apache.arrow.flatbuf.Type;
import org.apache.parquet.schema.LogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.BsonLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.DateLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.DecimalLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.Float16LogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.IntLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.IntervalLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.JsonLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.TimeLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.TimeUnit;
import org.apache.parquet.schema.LogicalTypeAnnotation.TimestampLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.UUIDLogicalTypeAnnotation;
import org.apache.parquet.schema.PrimitiveType;

/**
 * Reads the values of Parquet's primitive types. Where the file was written from an Arrow schema,
 * that says what Parquet has no type for: durations, time zones, extension types.
 */
final class ParquetValues {
  private static final CellNodes NODES = CellNodes.INSTANCE;
  private static final long NANOS_OF_MILLI = 1_000_000;

  private ParquetValues() {}

  /** Returns the reader of a type's values. */
  static ParquetCells.Value of(PrimitiveType type, Optional<Field> arrow, ColumnCells cells) {
    String extension = arrow.map(ArrowFields::extension).orElse("");
    return switch (type.getPrimitiveTypeName()) {
      case BOOLEAN -> (group, field, index) -> NODES.booleanNode(group.getBoolean(field, index));
      case FLOAT -> (group, field, index) -> NODES.numberNode(group.getFloat(field, index));
      case DOUBLE -> (group, field, index) -> NODES.numberNode(group.getDouble(field, index));
      case INT96 ->
          (group, field, index) -> cells.timestamp96(group.getInt96(field, index).getBytes());
      case INT32 -> {
        Whole whole =
            extension.equals(ArrowFields.BOOL8)
                ? value -> NODES.booleanNode(value != 0)
                : whole(type.getLogicalTypeAnnotation(), arrow, cells);
        yield (group, field, index) -> whole.cell(group.getInteger(field, index));
      }
      case INT64 -> {
        Whole whole = whole(type.getLogicalTypeAnnotation(), arrow, cells);
        yield (group, field, index) -> whole.cell(group.getLong(field, index));
      }
      case BINARY, FIXED_LEN_BYTE_ARRAY -> {
        Function<byte[], JsonNode> bytes = bytes(type.getLogicalTypeAnnotation(), extension, cells);
        yield (group, field, index) -> bytes.apply(group.getBinary(field, index).getBytes());
      }
    };
  }

  /** The cell of a whole number. */
  @FunctionalInterface
  private interface Whole {
    JsonNode cell(long value);
  }

  private static Whole whole(
      LogicalTypeAnnotation logical, Optional<Field> arrow, ColumnCells cells) {
    return switch (logical) {
      case DecimalLogicalTypeAnnotation decimal ->
          value -> cells.decimal(BigInteger.valueOf(value), decimal.getScale());
      case DateLogicalTypeAnnotation _ -> cells::date;
      case TimeLogicalTypeAnnotation time -> {
        long perSecond = perSecond(time.getUnit());
        yield value -> cells.time(value, perSecond);
      }
      case TimestampLogicalTypeAnnotation time -> timestamps(time, arrow, cells);
      case IntLogicalTypeAnnotation whole when !whole.isSigned() ->
          whole.getBitWidth() == Long.SIZE
              ? CellNodes::unsigned
              : value -> NODES.numberNode(value & (1L << whole.getBitWidth()) - 1);
      case null, default -> {
        Optional<Long> perSecond =
            arrow
                .filter(field -> field.typeType() == Type.Duration)
                .map(field -> (Duration) field.type(new Duration()))
                .map(type -> ArrowFields.perSecond(type.unit()));
        yield perSecond.isPresent()
            ? value -> cells.duration(value, perSecond.get())
            : NODES::numberNode;
      }
    };
  }

  private static Whole timestamps(
      TimestampLogicalTypeAnnotation type, Optional<Field> arrow, ColumnCells cells) {
    long perSecond = perSecond(type.getUnit());
    if (!type.isAdjustedToUTC()) {
      return value -> cells.timestamp(value, perSecond);
    }
    String zone =
        arrow
            .filter(field -> field.typeType() == Type.Timestamp)
            .map(field -> ((Timestamp) field.type(new Timestamp())).timezone())
            .orElse("UTC");
    return value -> cells.timestamp(value, perSecond, zone);
  }

  private static long perSecond(TimeUnit unit) {
    return switch (unit) {
      case MILLIS -> 1_000;
      case MICROS -> 1_000_000;
      case NANOS -> 1_000_000_000;
    };
  }

  private static Function<byte[], JsonNode> bytes(
      LogicalTypeAnnotation logical, String extension, ColumnCells cells) {
    return switch (logical) {
      case DecimalLogicalTypeAnnotation decimal ->
          bytes -> cells.decimal(new BigInteger(bytes), decimal.getScale());
      case JsonLogicalTypeAnnotation _ -> cells::json;
      case UUIDLogicalTypeAnnotation _ -> cells::uuid;
      case Float16LogicalTypeAnnotation _ -> bytes -> CellNodes.half(little(bytes).getShort());
      case IntervalLogicalTypeAnnotation _ ->
          bytes -> {
            ByteBuffer parts = little(bytes);
            return cells.interval(parts.getInt(), parts.getInt(), parts.getInt() * NANOS_OF_MILLI);
          };
      case BsonLogicalTypeAnnotation _ -> _ -> cells.unreadable("holds BSON");
      case null, default ->
          switch (extension) {
            case ArrowFields.JSON -> cells::json;
            case ArrowFields.UUID -> cells::uuid;
            default -> cells::text;
          };
    };
  }

  private static ByteBuffer little(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }
}
