package io.troupe.tasks.columns;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * A map as an object: its keys are the texts of the map's keys. A key that is there twice makes it
 * unreadable.
 */
final class MapCell {
  private final ColumnCells cells;
  private final ObjectNode object = CellNodes.INSTANCE.objectNode();
  private JsonNode unreadable = CellNodes.INSTANCE.missingNode();

  MapCell(ColumnCells cells) {
    this.cells = cells;
  }

  void put(JsonNode key, JsonNode value) {
    if (key instanceof UnreadableCell) {
      unreadable = key;
      return;
    }
    String name = key.isValueNode() ? key.asText() : key.toString();
    if (object.replace(name, value) != null) {
      unreadable = cells.unreadable("has the key %s twice".formatted(name));
    }
  }

  JsonNode value() {
    return unreadable instanceof UnreadableCell ? unreadable : object;
  }
}
