package io.troupe.tasks.rows;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.file.Path;
import org.apache.parquet.ParquetReadOptions;
import org.apache.parquet.column.page.PageReadStore;
import org.apache.parquet.conf.PlainParquetConfiguration;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.example.data.simple.convert.GroupRecordConverter;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.io.ColumnIOFactory;
import org.apache.parquet.io.LocalInputFile;
import org.apache.parquet.io.RecordReader;
import org.apache.parquet.schema.GroupType;
import org.apache.parquet.schema.LogicalTypeAnnotation.DecimalLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.ListLogicalTypeAnnotation;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.Type;
import org.jspecify.annotations.Nullable;

/**
 * Rows of Parquet files: groups become objects, lists arrays, absent values null; dates and times
 * keep their stored numbers.
 */
final class ParquetRows {
  private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

  private final ParquetFileReader reader;
  private final MessageType schema;

  private ParquetRows(ParquetFileReader reader) {
    this.reader = reader;
    this.schema = reader.getFileMetaData().getSchema();
  }

  /** Reads all rows. */
  static void read(Path file, RowFiles rows) throws IOException {
    ParquetReadOptions options =
        ParquetReadOptions.builder(new PlainParquetConfiguration())
            .withCodecFactory(new ParquetCodecs())
            .build();
    try (ParquetFileReader reader = open(file, options)) {
      new ParquetRows(reader).read(file.toString(), rows);
    }
  }

  private static ParquetFileReader open(Path file, ParquetReadOptions options) {
    try {
      return ParquetFileReader.open(new LocalInputFile(file), options);
    } catch (IOException | RuntimeException damaged) {
      throw damaged(file.toString(), damaged);
    }
  }

  private void read(String file, RowFiles rows) {
    int row = 0;
    for (PageReadStore pages = next(file); pages != null; pages = next(file)) {
      RecordReader<Group> records = records(file, pages);
      for (long i = 0; i < pages.getRowCount(); i++) {
        row++;
        rows.row(file + ":" + row, object(file, records));
      }
    }
  }

  /*
   * Reads the next pages. The library may throw any exception on damaged bytes, so each call of the library turns every exception into one type; the reader of rows is not called inside such a call.
   */
  private @Nullable PageReadStore next(String file) {
    try {
      return reader.readNextRowGroup();
    } catch (IOException | RuntimeException damaged) {
      throw damaged(file, damaged);
    }
  }

  private RecordReader<Group> records(String file, PageReadStore pages) {
    try {
      return new ColumnIOFactory()
          .getColumnIO(schema)
          .getRecordReader(pages, new GroupRecordConverter(schema));
    } catch (RuntimeException damaged) {
      throw damaged(file, damaged);
    }
  }

  private ObjectNode object(String file, RecordReader<Group> records) {
    try {
      return object(records.read(), schema);
    } catch (RuntimeException damaged) {
      throw damaged(file, damaged);
    }
  }

  private static TaskDataException damaged(String file, Exception cause) {
    return new TaskDataException(
        "%s: the Parquet file is damaged or of a kind that cannot be read (%s); fetch it again, or"
                .formatted(file, cause)
            + " convert it to JSON Lines");
  }

  private static ObjectNode object(Group group, GroupType type) {
    ObjectNode object = NODES.objectNode();
    for (int field = 0; field < type.getFieldCount(); field++) {
      object.set(type.getFieldName(field), field(group, type.getType(field), field));
    }
    return object;
  }

  private static JsonNode field(Group group, Type type, int field) {
    int count = group.getFieldRepetitionCount(field);
    if (type.isRepetition(Type.Repetition.REPEATED)) {
      ArrayNode array = NODES.arrayNode(count);
      for (int i = 0; i < count; i++) {
        array.add(value(group, type, field, i));
      }
      return array;
    }
    return count == 0 ? NODES.nullNode() : value(group, type, field, 0);
  }

  private static JsonNode value(Group group, Type type, int field, int index) {
    if (type.isPrimitive()) {
      return primitive(group, type, field, index);
    }
    Group inner = group.getGroup(field, index);
    GroupType innerType = type.asGroupType();
    return type.getLogicalTypeAnnotation() instanceof ListLogicalTypeAnnotation
        ? list(inner, innerType)
        : object(inner, innerType);
  }

  /**
   * Returns the elements of a list. In the three-level form the repeated group holds one field, the
   * element; older writers repeat the element itself.
   */
  private static ArrayNode list(Group list, GroupType type) {
    Type repeated = type.getType(0);
    int count = list.getFieldRepetitionCount(0);
    ArrayNode array = NODES.arrayNode(count);
    boolean wrapped = !repeated.isPrimitive() && repeated.asGroupType().getFieldCount() == 1;
    for (int i = 0; i < count; i++) {
      array.add(
          wrapped
              ? field(list.getGroup(0, i), repeated.asGroupType().getType(0), 0)
              : value(list, repeated, 0, i));
    }
    return array;
  }

  private static JsonNode primitive(Group group, Type type, int field, int index) {
    boolean decimal = type.getLogicalTypeAnnotation() instanceof DecimalLogicalTypeAnnotation;
    if (decimal) {
      int scale = ((DecimalLogicalTypeAnnotation) type.getLogicalTypeAnnotation()).getScale();
      return NODES.numberNode(new BigDecimal(unscaled(group, type, field, index), scale));
    }
    return switch (type.asPrimitiveType().getPrimitiveTypeName()) {
      case BOOLEAN -> NODES.booleanNode(group.getBoolean(field, index));
      case INT32 -> NODES.numberNode(group.getInteger(field, index));
      case INT64 -> NODES.numberNode(group.getLong(field, index));
      case FLOAT -> NODES.numberNode(group.getFloat(field, index));
      case DOUBLE -> NODES.numberNode(group.getDouble(field, index));
      case BINARY, FIXED_LEN_BYTE_ARRAY ->
          NODES.textNode(group.getBinary(field, index).toStringUsingUTF8());
      case INT96 ->
          throw new IllegalArgumentException("the column " + type.getName() + " is of type INT96");
    };
  }

  private static BigInteger unscaled(Group group, Type type, int field, int index) {
    return switch (type.asPrimitiveType().getPrimitiveTypeName()) {
      case INT32 -> BigInteger.valueOf(group.getInteger(field, index));
      case INT64 -> BigInteger.valueOf(group.getLong(field, index));
      default -> new BigInteger(group.getBinary(field, index).getBytes());
    };
  }
}
