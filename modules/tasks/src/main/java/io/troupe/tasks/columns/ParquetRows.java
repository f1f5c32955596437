package io.troupe.tasks.columns;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.base.failure.Causes;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.apache.arrow.flatbuf.Field;
import org.apache.arrow.flatbuf.Message;
import org.apache.arrow.flatbuf.Schema;
import org.apache.parquet.ParquetReadOptions;
import org.apache.parquet.column.page.PageReadStore;
import org.apache.parquet.conf.PlainParquetConfiguration;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.example.data.simple.convert.GroupRecordConverter;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.metadata.BlockMetaData;
import org.apache.parquet.hadoop.metadata.ColumnChunkMetaData;
import org.apache.parquet.io.ColumnIOFactory;
import org.apache.parquet.io.LocalInputFile;
import org.apache.parquet.io.RecordReader;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.Type;

/**
 * Rows of Parquet files: groups and maps become objects, lists arrays, absent values null; {@link
 * ColumnCells} says what other values become. Columns whose pages cannot be unpacked are never
 * read.
 */
public final class ParquetRows {
  /** Under this key a file holds the Arrow schema that it was written from. */
  private static final String ARROW_SCHEMA = "ARROW:schema";

  /** Before the metadata of an Arrow message come a mark and a length. */
  private static final int ARROW_PREFIX = 8;

  private final String file;
  private final ParquetFileReader reader;
  private final MessageType schema;
  private final MessageType readable;
  private final Map<String, JsonNode> unreadable = new HashMap<>();
  private final Map<String, ParquetCells> columns = new LinkedHashMap<>();

  private ParquetRows(String file, ParquetFileReader reader) {
    this.file = file;
    this.reader = reader;
    this.schema = reader.getFileMetaData().getSchema();
    ColumnCells cells = new ColumnCells(file, "");
    for (BlockMetaData block : reader.getFooter().getBlocks()) {
      for (ColumnChunkMetaData chunk : block.getColumns()) {
        if (!ParquetCodecs.knows(chunk.getCodec())) {
          String name = chunk.getPath().toArray()[0];
          String packed = "is packed by " + chunk.getCodec();
          unreadable.put(name, cells.member(name).unreadable(packed));
        }
      }
    }
    this.readable = new MessageType(schema.getName(), readableFields());
    Map<String, Field> arrow = arrowFields(reader.getFileMetaData().getKeyValueMetaData());
    for (Type each : readable.getFields()) {
      String name = each.getName();
      columns.put(
          name, ParquetCells.of(each, Optional.ofNullable(arrow.get(name)), cells.member(name)));
    }
    reader.setRequestedSchema(readable);
  }

  private List<Type> readableFields() {
    return schema.getFields().stream()
        .filter(field -> !unreadable.containsKey(field.getName()))
        .toList();
  }

  private static Map<String, Field> arrowFields(Map<String, String> metadata) {
    Map<String, Field> fields = new HashMap<>();
    if (!metadata.containsKey(ARROW_SCHEMA)) {
      return fields;
    }
    ByteBuffer bytes =
        ByteBuffer.wrap(Base64.getDecoder().decode(metadata.get(ARROW_SCHEMA)))
            .position(ARROW_PREFIX)
            .slice()
            .order(ByteOrder.LITTLE_ENDIAN);
    Schema arrow = (Schema) Message.getRootAsMessage(bytes).header(new Schema());
    for (int i = 0; i < arrow.fieldsLength(); i++) {
      fields.put(arrow.fields(i).name(), arrow.fields(i));
    }
    return fields;
  }

  /**
   * Reads all rows.
   *
   * @param rows receives the place and the fields of each
   * @throws ColumnException if the file is damaged
   */
  public static void read(Path file, BiConsumer<String, ObjectNode> rows) throws IOException {
    ParquetReadOptions options =
        ParquetReadOptions.builder(new PlainParquetConfiguration())
            .withCodecFactory(new ParquetCodecs())
            .build();
    String name = file.toString();
    try (ParquetFileReader reader =
        whole(name, () -> ParquetFileReader.open(new LocalInputFile(file), options))) {
      whole(name, () -> new ParquetRows(name, reader)).read(rows);
    }
  }

  private void read(BiConsumer<String, ObjectNode> rows) {
    int row = 0;
    for (BlockMetaData block : reader.getFooter().getBlocks()) {
      Supplier<ObjectNode> objects = whole(file, this::nextBlock);
      for (long i = 0; i < block.getRowCount(); i++) {
        row++;
        rows.accept(file + ":" + row, whole(file, objects::get));
      }
    }
  }

  private Supplier<ObjectNode> nextBlock() throws IOException {
    if (columns.isEmpty()) {
      return () -> object(Optional.empty());
    }
    PageReadStore pages = reader.readNextRowGroup();
    RecordReader<Group> records =
        new ColumnIOFactory()
            .getColumnIO(readable)
            .getRecordReader(pages, new GroupRecordConverter(readable));
    return () -> object(Optional.of(records.read()));
  }

  private ObjectNode object(Optional<Group> group) {
    ObjectNode object = CellNodes.INSTANCE.objectNode();
    for (Type each : schema.getFields()) {
      String name = each.getName();
      object.set(
          name,
          group.isPresent() && columns.containsKey(name)
              ? columns.get(name).at(group.get(), readable.getFieldIndex(name))
              : unreadable.get(name));
    }
    return object;
  }

  /** A call of the library. */
  @FunctionalInterface
  private interface Call<T> {
    T get() throws IOException;
  }

  /*
   * The library may throw any exception on damaged bytes, so each call of the library turns every exception into one type; the reader of rows is not called inside such a call.
   */
  private static <T> T whole(String file, Call<T> call) {
    try {
      return call.get();
    } catch (ColumnException refused) {
      throw refused;
    } catch (IOException | RuntimeException damage) {
      List<String> reasons = new ArrayList<>();
      for (Throwable each = damage; each != null; each = each.getCause()) {
        reasons.add(Causes.message(each));
      }
      throw new ColumnException(
          "%s: the Parquet file is damaged (%s); fetch or write it again"
              .formatted(file, String.join(": ", reasons)));
    }
  }
}
