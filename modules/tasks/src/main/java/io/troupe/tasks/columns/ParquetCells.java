package io.troupe.tasks.columns;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.apache.arrow.flatbuf.Field;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.schema.GroupType;
import org.apache.parquet.schema.LogicalTypeAnnotation.ListLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.MapKeyValueTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.MapLogicalTypeAnnotation;
import org.apache.parquet.schema.Type;

/**
 * Reads the fields of groups as JSON values: groups and maps become objects, lists arrays, absent
 * values null.
 *
 * @param value of each that a field holds; an optional field holds one or none
 * @param repeated whether the field holds any number of them
 */
record ParquetCells(Value value, boolean repeated) {
  private static final CellNodes NODES = CellNodes.INSTANCE;

  /** Reads one value of a field of a group. */
  @FunctionalInterface
  interface Value {
    JsonNode at(Group group, int field, int index);
  }

  /**
   * Returns the reader of a field.
   *
   * @param arrow the same field in the Arrow schema that the file was written from, if it says
   */
  static ParquetCells of(Type type, Optional<Field> arrow, ColumnCells cells) {
    return new ParquetCells(value(type, arrow, cells), type.isRepetition(Type.Repetition.REPEATED));
  }

  /** Returns the value of a field of a group. */
  JsonNode at(Group group, int field) {
    int count = group.getFieldRepetitionCount(field);
    if (!repeated) {
      return count == 0 ? NODES.nullNode() : value.at(group, field, 0);
    }
    ArrayNode array = NODES.arrayNode(count);
    for (int i = 0; i < count; i++) {
      array.add(value.at(group, field, i));
    }
    return array;
  }

  private static Value value(Type type, Optional<Field> arrow, ColumnCells cells) {
    if (type.isPrimitive()) {
      return ParquetValues.of(type.asPrimitiveType(), arrow, cells);
    }
    GroupType group = type.asGroupType();
    return switch (group.getLogicalTypeAnnotation()) {
      case ListLogicalTypeAnnotation _ -> list(group, child(arrow, 0), cells);
      case MapLogicalTypeAnnotation _ -> map(group, child(arrow, 0), cells);
      case MapKeyValueTypeAnnotation _ -> map(group, child(arrow, 0), cells);
      case null, default -> struct(group, arrow, cells);
    };
  }

  private static Optional<Field> child(Optional<Field> arrow, int index) {
    return arrow.filter(field -> index < field.childrenLength()).map(f -> f.children(index));
  }

  private static Optional<Field> child(Optional<Field> arrow, String name) {
    for (int i = 0; arrow.isPresent() && i < arrow.get().childrenLength(); i++) {
      if (name.equals(arrow.get().children(i).name())) {
        return child(arrow, i);
      }
    }
    return Optional.empty();
  }

  private static Value struct(GroupType type, Optional<Field> arrow, ColumnCells cells) {
    Map<String, ParquetCells> members = new LinkedHashMap<>();
    for (Type each : type.getFields()) {
      String name = each.getName();
      members.put(name, of(each, child(arrow, name), cells.member(name)));
    }
    return (group, field, index) -> {
      Group inner = group.getGroup(field, index);
      ObjectNode object = NODES.objectNode();
      members.forEach(
          (name, member) -> object.set(name, member.at(inner, type.getFieldIndex(name))));
      return object;
    };
  }

  /**
   * Lists have three levels: the repeated group holds one field, the element. Older writers repeat
   * the element itself (parquet-format, "Backward-compatibility rules").
   */
  private static Value list(GroupType type, Optional<Field> arrow, ColumnCells cells) {
    Type repeated = type.getType(0);
    if (elementItself(type, repeated)) {
      ParquetCells items = new ParquetCells(value(repeated, arrow, cells), true);
      return (group, field, index) -> items.at(group.getGroup(field, index), 0);
    }
    ParquetCells element = of(repeated.asGroupType().getType(0), arrow, cells);
    ParquetCells items =
        new ParquetCells((group, _, index) -> element.at(group.getGroup(0, index), 0), true);
    return (group, field, index) -> items.at(group.getGroup(field, index), 0);
  }

  private static boolean elementItself(GroupType list, Type repeated) {
    if (repeated.isPrimitive() || repeated.asGroupType().getFieldCount() != 1) {
      return true;
    }
    return repeated.getName().equals("array")
        || repeated.getName().equals(list.getName() + "_tuple")
        || repeated.asGroupType().getType(0).isRepetition(Type.Repetition.REPEATED);
  }

  private static Value map(GroupType type, Optional<Field> arrow, ColumnCells cells) {
    GroupType entry = type.getType(0).asGroupType();
    ParquetCells keys = of(entry.getType(0), child(arrow, 0), cells);
    Optional<ParquetCells> values =
        entry.getFieldCount() < 2
            ? Optional.empty()
            : Optional.of(of(entry.getType(1), child(arrow, 1), cells));
    return (group, field, index) -> {
      Group entries = group.getGroup(field, index);
      MapCell cell = new MapCell(cells);
      for (int i = 0; i < entries.getFieldRepetitionCount(0); i++) {
        Group each = entries.getGroup(0, i);
        cell.put(keys.at(each, 0), values.map(v -> v.at(each, 1)).orElse(NODES.nullNode()));
      }
      return cell.value();
    };
  }
}
