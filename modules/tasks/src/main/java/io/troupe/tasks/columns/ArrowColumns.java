package io.troupe.tasks.columns;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntToLongFunction;
import org.apache.arrow.flatbuf.Field;
import org.apache.arrow.flatbuf.FixedSizeList;
import org.apache.arrow.flatbuf.Int;
import org.apache.arrow.flatbuf.MetadataVersion;
import org.apache.arrow.flatbuf.Type;
import org.apache.arrow.flatbuf.Union;
import org.apache.arrow.flatbuf.UnionMode;

/** Reads the columns of a batch from its buffers, which are in the order of the fields. */
final class ArrowColumns {
  private static final CellNodes NODES = CellNodes.INSTANCE;

  /** A cell takes at least a bit; the rest of the limit is for cells that dictionaries repeat. */
  private static final int CELLS_PER_BYTE = 64;

  private static final int FEWEST_BYTES = 1_024;

  private final ArrowBuffers buffers;
  private final Map<Long, ArrowColumn> dictionaries;
  private final short version;
  private String unknown = "";
  private long cells;

  /**
   * Creates a reader of a batch.
   *
   * @param dictionaries values of the dictionaries so far, by their ids
   * @param version of the format
   */
  ArrowColumns(ArrowBuffers buffers, Map<Long, ArrowColumn> dictionaries, short version) {
    this.buffers = buffers;
    this.dictionaries = dictionaries;
    this.version = version;
  }

  /**
   * Adds a number of rows or items to those of the batch. Without a limit damaged lengths would let
   * a small file fill the memory.
   */
  void spend(long more) {
    cells = Math.addExact(cells, Math.max(0, more));
    if (cells > CELLS_PER_BYTE * (buffers.bytes() + FEWEST_BYTES)) {
      throw new IllegalArgumentException("it claims more rows or items than it has room for");
    }
  }

  /** Returns the next column, which belongs to the field. */
  ArrowColumn next(Field field, ColumnCells at) {
    if (field.dictionary() == null || !unknown.isEmpty()) {
      return plain(field, at);
    }
    Int indexType = field.dictionary().indexType();
    buffers.node();
    ByteBuffer validity = buffers.next();
    IntToLongFunction index =
        indexType == null
            ? ArrowValues.integers(buffers.next(), Integer.SIZE, true)
            : ArrowValues.integers(buffers.next(), indexType.bitWidth(), indexType.isSigned());
    ArrowColumn values = dictionaries.get(field.dictionary().id());
    if (values == null) {
      return _ -> at.unreadable("lacks its dictionary");
    }
    return valid(validity, row -> values.at(Math.toIntExact(index.applyAsLong(row))));
  }

  /**
   * Returns the next column without resolving dictionary indices. How many buffers a type of a
   * later version has is not known, so the columns behind such a one cannot be found.
   */
  ArrowColumn plain(Field field, ColumnCells at) {
    if (unknown.isEmpty() && field.typeType() > Type.LargeListView) {
      unknown = at.name();
    }
    if (!unknown.isEmpty()) {
      String why = "is or follows the column \"%s\" of an unknown type".formatted(unknown);
      return _ -> at.unreadable(why);
    }
    int length = buffers.node();
    ArrowColumn column =
        switch (field.typeType()) {
          case Type.Null -> _ -> NODES.nullNode();
          case Type.Union -> union(field, at);
          case Type.RunEndEncoded -> runs(field, at, length);
          default -> valid(buffers.next(), nested(field, at));
        };
    return ArrowFields.extension(field).equals(ArrowFields.VARIANT)
        ? _ -> at.unreadable("holds variants of Parquet")
        : column;
  }

  private ArrowColumn nested(Field field, ColumnCells at) {
    return switch (field.typeType()) {
      case Type.List -> lists(field, at, Integer.SIZE);
      case Type.LargeList -> lists(field, at, Long.SIZE);
      case Type.ListView -> listViews(field, at, Integer.SIZE);
      case Type.LargeListView -> listViews(field, at, Long.SIZE);
      case Type.FixedSizeList -> {
        int size = ((FixedSizeList) field.type(new FixedSizeList())).listSize();
        ArrowColumn items = next(field.children(0), at);
        yield row -> array(items, (long) row * size, (row + 1L) * size);
      }
      case Type.Map -> map(field, at);
      case Type.Struct_ -> struct(field, at);
      default -> ArrowValues.of(field, buffers, at);
    };
  }

  private ArrowColumn lists(Field field, ColumnCells at, int offsetBits) {
    IntToLongFunction offsets = ArrowValues.integers(buffers.next(), offsetBits, true);
    ArrowColumn items = next(field.children(0), at);
    return row -> array(items, offsets.applyAsLong(row), offsets.applyAsLong(row + 1));
  }

  private ArrowColumn listViews(Field field, ColumnCells at, int bits) {
    IntToLongFunction offsets = ArrowValues.integers(buffers.next(), bits, true);
    IntToLongFunction sizes = ArrowValues.integers(buffers.next(), bits, true);
    ArrowColumn items = next(field.children(0), at);
    return row -> {
      long from = offsets.applyAsLong(row);
      return array(items, from, Math.addExact(from, sizes.applyAsLong(row)));
    };
  }

  private ArrowColumn map(Field field, ColumnCells at) {
    IntToLongFunction offsets = ArrowValues.integers(buffers.next(), Integer.SIZE, true);
    Field entries = field.children(0);
    buffers.node();
    buffers.next(); // an entry is never absent
    ArrowColumn keys = next(entries.children(0), at);
    ArrowColumn values = next(entries.children(1), at);
    return row -> {
      long from = offsets.applyAsLong(row);
      long to = offsets.applyAsLong(row + 1);
      spend(Math.subtractExact(to, from));
      MapCell cell = new MapCell(at);
      for (long i = from; i < to; i++) {
        cell.put(keys.at(Math.toIntExact(i)), values.at(Math.toIntExact(i)));
      }
      return cell.value();
    };
  }

  private ArrowColumn struct(Field field, ColumnCells at) {
    Map<String, ArrowColumn> members = members(children(field), at);
    return row -> {
      ObjectNode object = NODES.objectNode();
      members.forEach((name, member) -> object.set(name, member.at(row)));
      return object;
    };
  }

  private static List<Field> children(Field field) {
    List<Field> children = new ArrayList<>();
    for (int i = 0; i < field.childrenLength(); i++) {
      children.add(field.children(i));
    }
    return children;
  }

  /** Returns the columns of fields by their names. */
  Map<String, ArrowColumn> members(List<Field> fields, ColumnCells at) {
    Map<String, ArrowColumn> members = new LinkedHashMap<>();
    for (Field each : fields) {
      String name = String.valueOf(each.name());
      ColumnCells cell = at.member(name);
      if (members.put(name, next(each, cell)) != null) {
        members.put(name, _ -> cell.unreadable("is there twice"));
      }
    }
    return members;
  }

  private ArrowColumn union(Field field, ColumnCells at) {
    Union type = (Union) field.type(new Union());
    if (version < MetadataVersion.V5) {
      buffers.next(); // the validity, which is with the members since
    }
    ByteBuffer types = buffers.next();
    IntToLongFunction places =
        type.mode() == UnionMode.Dense
            ? ArrowValues.integers(buffers.next(), Integer.SIZE, true)
            : row -> row;
    Map<Integer, ArrowColumn> members = new LinkedHashMap<>();
    for (int i = 0; i < field.childrenLength(); i++) {
      int id = type.typeIdsLength() == 0 ? i : type.typeIds(i);
      members.put(id, next(field.children(i), at.member(String.valueOf(field.children(i).name()))));
    }
    return row -> {
      ArrowColumn member = members.get((int) types.get(row));
      if (member == null) {
        throw new IllegalArgumentException("a value is of no type of its union");
      }
      return member.at(Math.toIntExact(places.applyAsLong(row)));
    };
  }

  /** A run-end encoded column: the first run whose end is behind a row holds its value. */
  private ArrowColumn runs(Field field, ColumnCells at, int rows) {
    Field endField = field.children(0);
    Int endType = (Int) endField.type(new Int());
    int count = buffers.node();
    buffers.next(); // an end is never absent
    IntToLongFunction ends = ArrowValues.integers(buffers.next(), endType.bitWidth(), true);
    ArrowColumn values = next(field.children(1), at);
    return row -> {
      int low = 0;
      int high = count - 1;
      while (low < high) {
        int middle = (low + high) >>> 1;
        if (ends.applyAsLong(middle) > row) {
          high = middle;
        } else {
          low = middle + 1;
        }
      }
      if (row >= rows || low >= count || ends.applyAsLong(low) <= row) {
        throw new IllegalArgumentException("a row is behind the last run");
      }
      return values.at(low);
    };
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
        : row -> ArrowValues.bit(validity, row) ? values.at(row) : nothing();
  }

  private static JsonNode nothing() {
    return NODES.nullNode();
  }
}
