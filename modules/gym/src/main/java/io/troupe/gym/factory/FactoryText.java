package io.troupe.gym.factory;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * A file of rows cut into the rows and the text around them, so that it is put together again byte
 * for byte: {@code gap row gap row … tail}. It is one array of objects, or one object a line.
 *
 * @param rows with the text before each
 * @param tail text behind the last row
 */
record FactoryText(List<Piece> rows, String tail) {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** A row's text and what is between it and the row before. */
  record Piece(String gap, String row) {
    JsonNode json() throws IOException {
      return JSON.readTree(row);
    }
  }

  FactoryText {
    rows = List.copyOf(rows);
  }

  /**
   * Cuts a file.
   *
   * @param name of the file, for errors
   * @throws IOException if it is no JSON, or something in it is no object; says where
   */
  static FactoryText cut(String name, byte[] bytes) throws IOException {
    List<Piece> rows = new ArrayList<>();
    int before = 0;
    try (JsonParser parser = JSON.getFactory().createParser(bytes)) {
      JsonToken token = parser.nextToken();
      if (token == JsonToken.START_ARRAY) {
        token = parser.nextToken();
      }
      while (token == JsonToken.START_OBJECT) {
        int start = (int) parser.currentTokenLocation().getByteOffset();
        JsonParser _ = parser.skipChildren();
        int end = (int) parser.currentLocation().getByteOffset();
        rows.add(new Piece(text(bytes, before, start), text(bytes, start, end)));
        before = end;
        token = parser.nextToken();
      }
      if (token != null && token != JsonToken.END_ARRAY) {
        throw new IOException(
            "%s, row %d is no object; a data set is an array of objects, or an object a line"
                .formatted(name, rows.size() + 1));
      }
    } catch (JsonProcessingException damaged) {
      throw new IOException(
          "%s, line %d: %s"
              .formatted(name, damaged.getLocation().getLineNr(), damaged.getOriginalMessage()),
          damaged);
    }
    return new FactoryText(rows, text(bytes, before, bytes.length));
  }

  String joined() {
    StringBuilder text = new StringBuilder();
    rows.forEach(each -> text.append(each.gap()).append(each.row()));
    return text.append(tail).toString();
  }

  private static String text(byte[] bytes, int from, int to) {
    return new String(bytes, from, to - from, StandardCharsets.UTF_8);
  }
}
