package io.troupe.environments.box;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import java.io.IOException;

/**
 * A file in a box.
 *
 * @param path from the root of the box
 * @param bytes handed over, not copied
 */
@SuppressWarnings("ArrayRecordComponent") // carried, never compared
public record BoxFile(String path, boolean executable, byte[] bytes) {
  /** Adds this file as a box, and a submission, have it: path, whether it is executable, bytes. */
  void addTo(ArrayNode files) {
    files.addArray().add(path).add(executable).add(bytes);
  }

  /** The opposite of {@link #addTo}. */
  static BoxFile of(JsonNode file) {
    try {
      return new BoxFile(
          file.path(0).asText(), file.path(1).asBoolean(), file.path(2).binaryValue());
    } catch (IOException unreadable) {
      throw new IllegalArgumentException("a file is not in base64", unreadable);
    }
  }
}
