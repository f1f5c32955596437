package io.troupe.tasks.columns;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.node.JsonNodeType;
import com.fasterxml.jackson.databind.node.ValueNode;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;

/**
 * A cell that exists but cannot be read: every question about its value throws a {@link
 * ColumnException}. A column that nobody uses is never asked, so it does not make its file
 * unreadable.
 */
final class UnreadableCell extends ValueNode {
  private static final long serialVersionUID = 1;

  private final String reason;

  /**
   * Creates a cell.
   *
   * @param reason the message of the exception: file, column, why, and the remedy
   */
  UnreadableCell(String reason) {
    this.reason = reason;
  }

  private ColumnException refused() {
    return new ColumnException(reason);
  }

  @Override
  public JsonNodeType getNodeType() {
    throw refused();
  }

  @Override
  public JsonToken asToken() {
    throw refused();
  }

  @Override
  public String asText() {
    throw refused();
  }

  @Override
  public String asText(String absent) {
    throw refused();
  }

  @Override
  public String textValue() {
    throw refused();
  }

  @Override
  public boolean isArray() {
    throw refused();
  }

  @Override
  public boolean isObject() {
    throw refused();
  }

  @Override
  public boolean isIntegralNumber() {
    throw refused();
  }

  @Override
  public boolean isInt() {
    throw refused();
  }

  @Override
  public int asInt(int absent) {
    throw refused();
  }

  @Override
  public double asDouble(double absent) {
    throw refused();
  }

  @Override
  public boolean asBoolean(boolean absent) {
    throw refused();
  }

  @Override
  public int size() {
    throw refused();
  }

  @Override
  public Iterator<JsonNode> elements() {
    throw refused();
  }

  @Override
  public Set<Map.Entry<String, JsonNode>> properties() {
    throw refused();
  }

  @Override
  public void serialize(JsonGenerator generator, SerializerProvider provider) {
    throw refused();
  }

  @Override
  public String toString() {
    throw refused();
  }

  @Override
  public boolean equals(Object other) {
    return other == this;
  }

  @Override
  public int hashCode() {
    return reason.hashCode();
  }
}
