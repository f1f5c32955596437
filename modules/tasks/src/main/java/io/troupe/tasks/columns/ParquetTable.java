package io.troupe.tasks.columns;

import io.troupe.base.files.AtomicFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.parquet.conf.PlainParquetConfiguration;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.example.data.simple.SimpleGroup;
import org.apache.parquet.hadoop.ParquetWriter;
import org.apache.parquet.hadoop.example.ExampleParquetWriter;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;
import org.apache.parquet.io.LocalOutputFile;
import org.apache.parquet.schema.ConversionPatterns;
import org.apache.parquet.schema.LogicalTypeAnnotation;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName;
import org.apache.parquet.schema.Type;
import org.apache.parquet.schema.Types;
import org.jspecify.annotations.Nullable;

/**
 * A Parquet file of rows with columns that are known before: texts, numbers, and lists of numbers.
 * Every value may be absent. Pages are packed by zstd.
 */
public final class ParquetTable {
  private static final String LIST = "list";
  private static final String ELEMENT = "element";

  /** The kind of the values in a column. */
  public enum CellKind {
    /** Text in UTF-8. */
    TEXT(PrimitiveTypeName.BINARY, false),
    /** 64 bits. */
    INTEGER(PrimitiveTypeName.INT64, false),
    /** Double precision. */
    NUMBER(PrimitiveTypeName.DOUBLE, false),
    FLAG(PrimitiveTypeName.BOOLEAN, false),
    /** A list of 32 bits each, such as tokens: an {@code int[]}. */
    INTEGERS(PrimitiveTypeName.INT32, true),
    /** A list of single precision, such as log-probabilities: a {@code float[]}. */
    NUMBERS(PrimitiveTypeName.FLOAT, true);

    private final PrimitiveTypeName primitive;
    private final boolean many;

    CellKind(PrimitiveTypeName primitive, boolean many) {
      this.primitive = primitive;
      this.many = many;
    }

    private Type named(String name) {
      if (many) {
        Type element = Types.required(primitive).named(ELEMENT);
        return ConversionPatterns.listOfElements(Type.Repetition.OPTIONAL, name, element);
      }
      return this == TEXT
          ? Types.optional(primitive).as(LogicalTypeAnnotation.stringType()).named(name)
          : Types.optional(primitive).named(name);
    }

    private void add(Group row, String name, Object value) {
      switch (this) {
        case TEXT -> row.add(name, value.toString());
        case INTEGER -> row.add(name, ((Number) value).longValue());
        case NUMBER -> row.add(name, ((Number) value).doubleValue());
        case FLAG -> row.add(name, ((Boolean) value).booleanValue());
        case INTEGERS -> {
          Group list = row.addGroup(name);
          for (int each : (int[]) value) {
            list.addGroup(LIST).add(ELEMENT, each);
          }
        }
        case NUMBERS -> {
          Group list = row.addGroup(name);
          for (float each : (float[]) value) {
            list.addGroup(LIST).add(ELEMENT, each);
          }
        }
      }
    }
  }

  private final Map<String, CellKind> columns;
  private final MessageType schema;
  private final ParquetWriter<Group> writer;

  private ParquetTable(
      Map<String, CellKind> columns, MessageType schema, ParquetWriter<Group> writer) {
    this.columns = columns;
    this.schema = schema;
    this.writer = writer;
  }

  /**
   * Writes a file, whole or not at all; one that is there is replaced.
   *
   * @param columns in their order
   * @param rows writes all rows
   */
  public static void write(Path file, Map<String, CellKind> columns, Consumer<ParquetTable> rows)
      throws IOException {
    List<Type> fields =
        columns.entrySet().stream().map(each -> each.getValue().named(each.getKey())).toList();
    MessageType schema = new MessageType("row", fields);
    AtomicFile.replace(
        file,
        beside -> {
          try (ParquetWriter<Group> writer =
              ExampleParquetWriter.builder(new LocalOutputFile(beside))
                  .withConf(new PlainParquetConfiguration())
                  .withType(schema)
                  .withCodecFactory(new ParquetCodecs())
                  .withCompressionCodec(CompressionCodecName.ZSTD)
                  .build()) {
            rows.accept(new ParquetTable(columns, schema, writer));
          } catch (UncheckedIOException disk) {
            throw disk.getCause();
          }
        });
  }

  /**
   * Adds a row.
   *
   * @param row values by their columns; null, or no entry, for what is absent
   * @throws UncheckedIOException if it cannot be written
   */
  public void row(Map<String, ? extends @Nullable Object> row) {
    Group group = new SimpleGroup(schema);
    columns.forEach(
        (name, kind) -> {
          Object value = row.get(name);
          if (value != null) {
            kind.add(group, name, value);
          }
        });
    try {
      writer.write(group);
    } catch (IOException disk) {
      throw new UncheckedIOException(disk);
    }
  }
}
