package io.troupe.console;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The lines of a growing file of JSON objects, found by a number that each of them has, and read
 * when somebody asks: an index of offsets is all that stays in memory, and nothing is read while
 * nobody looks.
 */
final class LineIndex {
  private static final int MAX_KEYS = 200_000;
  private static final int MAX_LINE_BYTES = 256 << 20;
  private static final int HEAD_BYTES = 4_096;
  private static final ObjectMapper JSON = JsonMapper.builder().build();

  private record Place(long offset, int length) {}

  private final Path file;
  private final String key;
  private final Map<Long, List<Place>> index = new LinkedHashMap<>();
  private long read;

  /**
   * An index of a file that may not be there yet.
   *
   * @param key name of the number, which stands near the beginning of each line
   */
  LineIndex(Path file, String key) {
    this.file = file;
    this.key = key;
  }

  /**
   * Every line with a number, oldest first; empty when none is in the file.
   *
   * @throws IOException if the file cannot be read
   */
  synchronized List<JsonNode> of(long number) throws IOException {
    if (!Files.isRegularFile(file)) {
      return List.of();
    }
    try (FileChannel channel = FileChannel.open(file)) {
      follow(channel);
      List<JsonNode> found = new ArrayList<>();
      for (Place place : index.getOrDefault(number, List.of())) {
        found.add(JSON.readTree(bytes(channel, place.offset(), place.length())));
      }
      return found;
    }
  }

  private void follow(FileChannel channel) throws IOException {
    ByteBuffer block = ByteBuffer.allocate(1 << 20);
    long lineStart = read;
    long position = read;
    while (channel.read(block.clear(), position) > 0) {
      block.flip();
      for (int i = 0; i < block.limit(); i++) {
        if (block.get(i) == '\n') {
          long end = position + i;
          if (end - lineStart < MAX_LINE_BYTES) {
            add(channel, lineStart, (int) (end - lineStart));
          }
          lineStart = end + 1;
        }
      }
      position += block.limit();
    }
    read = lineStart;
  }

  private void add(FileChannel channel, long offset, int length) throws IOException {
    byte[] head = bytes(channel, offset, Math.min(length, HEAD_BYTES));
    try (JsonParser parser = JSON.createParser(head)) {
      for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
        if (token == JsonToken.FIELD_NAME && parser.currentName().equals(key)) {
          parser.nextToken();
          index
              .computeIfAbsent(parser.getLongValue(), _ -> new ArrayList<>())
              .add(new Place(offset, length));
          if (index.size() > MAX_KEYS) {
            index.remove(index.keySet().iterator().next());
          }
          return;
        }
      }
    } catch (JsonProcessingException torn) {
      // A line that a crash cut off has no number.
    }
  }

  private static byte[] bytes(FileChannel channel, long offset, int length) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(length);
    while (bytes.hasRemaining() && channel.read(bytes, offset + bytes.position()) >= 0) {}
    return bytes.array();
  }
}
