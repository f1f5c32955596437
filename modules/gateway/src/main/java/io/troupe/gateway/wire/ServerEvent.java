package io.troupe.gateway.wire;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * An event of a stream.
 *
 * @param name of the event; empty where the dialect names none
 */
public record ServerEvent(String name, String data) {
  static ServerEvent of(JsonNode data) {
    return new ServerEvent("", data.toString());
  }

  /** An event whose data repeats its name as {@code type}. */
  static ServerEvent typed(String type, ObjectNode data) {
    return new ServerEvent(type, data.put("type", type).toString());
  }

  /** The event as it is sent. */
  public String text() {
    return (name.isEmpty() ? "" : "event: " + name + "\n") + "data: " + data + "\n\n";
  }
}
