package io.troupe.tasks.rows;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.io.JsonEOFException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * Rows written as JSON: one object a line (lines end with LF or CR LF, lines of white space are
 * skipped), or one array of objects.
 */
final class JsonRows {
  private static final int LOOK_AHEAD = 1 << 12;

  /** A reader that ignores the tokens after an item of an array. */
  private static final ObjectReader ITEMS =
      RowJson.MAPPER.reader().without(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

  private JsonRows() {}

  /** Reads all rows; {@code in} supports marks. */
  static void read(Path file, InputStream in, RowFiles rows) throws IOException {
    if (opensArray(in)) {
      array(file, in, rows);
    } else {
      lines(file, in, rows);
    }
  }

  /**
   * Whether the text begins with an array of objects, or an empty one, as no line of objects does.
   */
  private static boolean opensArray(InputStream in) throws IOException {
    in.mark(LOOK_AHEAD);
    boolean bracket = false;
    boolean array = false;
    for (int i = 0; i < LOOK_AHEAD - 1; i++) {
      int next = in.read();
      if (next == '[' && !bracket) {
        bracket = true;
      } else if (next < 0 || !Character.isWhitespace(next)) {
        array = bracket && next == '{';
        break;
      }
    }
    in.reset();
    return array;
  }

  private static void array(Path file, InputStream in, RowFiles rows) throws IOException {
    try (JsonParser parser = RowJson.MAPPER.createParser(in)) {
      parser.nextToken();
      while (parser.nextToken() != JsonToken.END_ARRAY) {
        String place = file + ":" + parser.currentTokenLocation().getLineNr();
        JsonNode node = ITEMS.readTree(parser);
        if (node instanceof ObjectNode fields) {
          rows.row(place, fields);
        } else {
          rows.breach(place, "an item must be a JSON object, not " + node);
        }
      }
    } catch (JsonProcessingException e) {
      throw new TaskDataException(
          "%s:%d: the file must be one JSON array of objects (%s); correct it or fetch it again"
              .formatted(
                  file,
                  e.getLocation() == null ? 1 : e.getLocation().getLineNr(),
                  e.getOriginalMessage()));
    }
  }

  private static void lines(Path file, InputStream in, RowFiles rows) throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    int lineNumber = 0;
    int next;
    do {
      next = in.read();
      if (next >= 0 && next != '\n') {
        line.write(next);
      } else if (next == '\n' || line.size() > 0) {
        lineNumber++;
        refuseOneObject(file, line.toByteArray(), lineNumber, next);
        line("%s:%d".formatted(file, lineNumber), line.toByteArray(), rows);
        line.reset();
      }
    } while (next >= 0);
  }

  /** A file whose first line opens an object and does not close it is no file of lines. */
  private static void refuseOneObject(Path file, byte[] bytes, int lineNumber, int next) {
    if (lineNumber > 1 || next < 0 || !new String(bytes, StandardCharsets.UTF_8).startsWith("{")) {
      return;
    }
    try {
      RowJson.MAPPER.readTree(bytes);
    } catch (JsonEOFException _) {
      throw new TaskDataException(
          "%s: the file must be one JSON object a line, or one array of objects, and its first line"
                  .formatted(file)
              + " is only the beginning of an object; if rows are within it, make their array the"
              + " whole file");
    } catch (IOException _) {
      // the line is reported with the others
    }
  }

  private static void line(String place, byte[] bytes, RowFiles rows) {
    try {
      String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
      if (text.isBlank()) {
        return;
      }
      if (RowJson.MAPPER.readTree(text) instanceof ObjectNode fields) {
        rows.row(place, fields);
      } else {
        rows.breach(place, RowException.said("a line must be one JSON object", text));
      }
    } catch (CharacterCodingException _) {
      rows.breach(place, "a line is UTF-8 text, and this one is not");
    } catch (JsonProcessingException e) {
      String rule = "a line must be one JSON object (%s)".formatted(e.getOriginalMessage());
      String text = new String(bytes, StandardCharsets.UTF_8);
      rows.breach(place, RowException.said(rule, text));
    }
  }
}
