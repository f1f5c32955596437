package io.troupe.tasks;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;

/**
 * Reads files of one JSON object a line, plain or gzip (told by the first two bytes, not by the
 * name). Lines end with LF or CR LF; lines of white space are skipped.
 */
final class JsonLines {
  private static final JsonMapper MAPPER =
      JsonMapper.builder()
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .build();

  private static final int GZIP_MAGIC = 0x8b1f;
  private static final int BREACHES_SHOWN = 20;
  private static final int VALUE_SHOWN = 80;

  private JsonLines() {}

  /** What a line breaks, said for a person; the reader adds file and line. */
  static final class BadLine extends Exception {
    private static final long serialVersionUID = 1;

    BadLine(String rule, String value) {
      super("%s, not %s".formatted(rule, shown(value)));
    }
  }

  /** Makes a row of an object. */
  interface RowReader<T> {
    /**
     * The row of a line.
     *
     * @param number of the row in the file, from 0; lines of white space do not count
     */
    T read(int number, JsonNode object) throws BadLine;
  }

  /**
   * All rows of a file.
   *
   * @throws BadTaskData if lines are bad: all of them are named, up to 20
   * @throws IOException if the file cannot be read; the message names it
   */
  static <T> List<T> read(Path file, RowReader<T> reader) throws IOException {
    List<T> rows = new ArrayList<>();
    List<String> breaches = new ArrayList<>();
    int lineNumber = 0;
    int row = 0;
    for (ByteBuffer line : lines(bytes(file))) {
      lineNumber++;
      try {
        String text = StandardCharsets.UTF_8.newDecoder().decode(line).toString();
        if (!text.isBlank()) {
          rows.add(reader.read(row++, object(text)));
        }
      } catch (CharacterCodingException _) {
        row++;
        breaches.add(
            "%s:%d: a line is UTF-8 text, and this one is not".formatted(file, lineNumber));
      } catch (BadLine bad) {
        breaches.add("%s:%d: %s".formatted(file, lineNumber, bad.getMessage()));
      }
    }
    if (!breaches.isEmpty()) {
      throw new BadTaskData(report(file, breaches));
    }
    return rows;
  }

  /** The text under a key. */
  static String text(JsonNode object, String key) throws BadLine {
    JsonNode value = object.path(key);
    if (!value.isTextual() || value.textValue().isBlank()) {
      throw new BadLine(
          "\"%s\" must be a string that is not blank".formatted(key),
          value.isMissingNode() ? "absent" : value.toString());
    }
    return value.textValue();
  }

  private static JsonNode object(String text) throws BadLine {
    JsonNode node;
    try {
      node = MAPPER.readTree(text);
    } catch (JsonProcessingException e) {
      throw new BadLine(
          "a line must be one JSON object (%s)".formatted(e.getOriginalMessage()), text);
    }
    if (!node.isObject()) {
      throw new BadLine("a line must be one JSON object", text);
    }
    return node;
  }

  private static byte[] bytes(Path file) throws IOException {
    if (!Files.isRegularFile(file)) {
      throw new BadTaskData(
          "%s: the data file %s; give the path of a file, relative ones from %s"
              .formatted(
                  file,
                  Files.exists(file) ? "is no regular file" : "does not exist",
                  Path.of("").toAbsolutePath()));
    }
    try (InputStream raw = new BufferedInputStream(Files.newInputStream(file))) {
      raw.mark(2);
      int magic = raw.read() | raw.read() << 8;
      raw.reset();
      return (magic == GZIP_MAGIC ? new GZIPInputStream(raw) : raw).readAllBytes();
    } catch (EOFException | ZipException e) {
      throw new BadTaskData(
          "%s: the gzip file is damaged or cut off (%s); fetch it again"
              .formatted(file, e.getMessage()));
    }
  }

  private static List<ByteBuffer> lines(byte[] bytes) {
    List<ByteBuffer> lines = new ArrayList<>();
    int start = 0;
    for (int i = 0; i < bytes.length; i++) {
      if (bytes[i] == '\n') {
        lines.add(ByteBuffer.wrap(bytes, start, i - start));
        start = i + 1;
      }
    }
    if (start < bytes.length) {
      lines.add(ByteBuffer.wrap(bytes, start, bytes.length - start));
    }
    return lines;
  }

  private static String report(Path file, List<String> breaches) {
    StringBuilder report =
        new StringBuilder(
            "%s has %d bad line%s:"
                .formatted(file, breaches.size(), breaches.size() == 1 ? "" : "s"));
    breaches.stream().limit(BREACHES_SHOWN).forEach(b -> report.append("\n  ").append(b));
    if (breaches.size() > BREACHES_SHOWN) {
      report.append("\n  and %d more".formatted(breaches.size() - BREACHES_SHOWN));
    }
    return report.append("\ncorrect or remove them").toString();
  }

  private static String shown(String value) {
    return value.length() <= VALUE_SHOWN ? value : value.substring(0, VALUE_SHOWN) + "…";
  }
}
