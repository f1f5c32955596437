package io.troupe.console.source;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.troupe.base.files.FileIdentity;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The lines of a growing file of JSON objects, and of the one before it ({@code NAME.1.jsonl}) once
 * it was rotated, found by a number that each of them has, and read when asked for: an index of
 * offsets is all that stays in memory, and nothing is read without a request.
 */
final class JsonLineIndex {
  private static final int MAX_KEYS = 200_000;
  private static final int MAX_LINE_BYTES = 256 << 20;
  private static final int HEAD_BYTES = 4_096;
  private static final ObjectMapper JSON = JsonMapper.builder().build();

  private record Place(Path file, long offset, int length) {}

  private final Path file;
  private final Path previous;
  private final String key;
  private final Map<Long, List<Place>> index = new LinkedHashMap<>();
  private Optional<Object> indexed = Optional.empty();
  private long read;

  /**
   * An index of a file that may not be there yet.
   *
   * @param key name of the number, which is near the beginning of each line
   */
  JsonLineIndex(Path file, String key) {
    this.file = file;
    this.previous =
        file.resolveSibling(file.getFileName().toString().replaceFirst("\\.jsonl$", ".1.jsonl"));
    this.key = key;
  }

  /**
   * Every line with a number, oldest first; empty when none is in the file.
   *
   * @throws IOException if the file cannot be read
   */
  synchronized List<JsonNode> of(long number) throws IOException {
    while (true) {
      Optional<Object> before = FileIdentity.of(file); // Empty also between a rotation's two steps.
      if (before.isEmpty() || !before.equals(indexed)) {
        // The file was rotated: what was in it is in the one before it now.
        index.clear();
        follow(previous, 0);
        read = 0;
        indexed = before;
      }
      read = follow(file, read);
      List<JsonNode> found = new ArrayList<>();
      try {
        for (Place place : index.getOrDefault(number, List.of())) {
          try (FileChannel channel = FileChannel.open(place.file())) {
            found.add(JSON.readTree(bytes(channel, place.offset(), place.length())));
          }
        }
      } catch (JsonProcessingException | NoSuchFileException moved) {
        if (before.equals(FileIdentity.of(file))) {
          throw moved;
        }
      }
      if (before.equals(FileIdentity.of(file))) {
        return found;
      }
    }
  }

  /** Reads the lines of a file from an offset on; returns the offset of the next line. */
  private long follow(Path from, long offset) throws IOException {
    ByteBuffer block = ByteBuffer.allocate(1 << 20);
    long lineStart = offset;
    long position = offset;
    try (FileChannel channel = FileChannel.open(from)) {
      while (channel.read(block.clear(), position) > 0) {
        block.flip();
        for (int i = 0; i < block.limit(); i++) {
          if (block.get(i) == '\n') {
            long end = position + i;
            if (end - lineStart < MAX_LINE_BYTES) {
              add(from, channel, lineStart, (int) (end - lineStart));
            }
            lineStart = end + 1;
          }
        }
        position += block.limit();
      }
    } catch (NoSuchFileException absent) {
      return offset;
    }
    return lineStart;
  }

  private void add(Path from, FileChannel channel, long offset, int length) throws IOException {
    byte[] head = bytes(channel, offset, Math.min(length, HEAD_BYTES));
    try (JsonParser parser = JSON.createParser(head)) {
      for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
        if (token == JsonToken.FIELD_NAME && parser.currentName().equals(key)) {
          parser.nextToken();
          index
              .computeIfAbsent(parser.getLongValue(), _ -> new ArrayList<>())
              .add(new Place(from, offset, length));
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
