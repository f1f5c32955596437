package io.troupe.console;

import com.fasterxml.jackson.core.JsonParser;
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
 * The texts of judged groups, read from {@code rollouts.jsonl} when somebody asks: an index of
 * offsets is all that stays in memory, and nothing is read while nobody looks.
 */
public final class RolloutTexts {
  /** Longer texts are cut: a page cannot show more, and a hostile completion may be any size. */
  static final int MAX_CHARACTERS = 20_000;

  private static final int MAX_GROUPS = 200_000;
  private static final int MAX_LINE_BYTES = 256 << 20;
  private static final ObjectMapper JSON = JsonMapper.builder().build();

  /**
   * A text, perhaps its beginning only.
   *
   * @param characters of the whole
   */
  public record Text(String text, long characters) {
    static Text of(String whole) {
      if (whole.length() <= MAX_CHARACTERS) {
        return new Text(whole, whole.length());
      }
      int end = MAX_CHARACTERS;
      if (Character.isHighSurrogate(whole.charAt(end - 1))) {
        end--;
      }
      return new Text(whole.substring(0, end), whole.length());
    }
  }

  /** A group as it was judged under one lease. */
  public record Judged(
      long fence,
      Text prompt,
      Text answer,
      List<Text> completions,
      List<Double> rewards,
      List<Text> verdicts) {}

  private record Place(long offset, int length) {}

  private final Path file;
  private final Map<Long, List<Place>> index = new LinkedHashMap<>();
  private long read;

  /** Texts of a file that may not be there yet. */
  public RolloutTexts(Path file) {
    this.file = file;
  }

  /**
   * Every judged sampling of a group, oldest first; empty when none is in the file.
   *
   * @throws IOException if the file cannot be read
   */
  public synchronized List<Judged> of(long group) throws IOException {
    if (!Files.isRegularFile(file)) {
      return List.of();
    }
    try (FileChannel channel = FileChannel.open(file)) {
      follow(channel);
      List<Judged> found = new ArrayList<>();
      for (Place place : index.getOrDefault(group, List.of())) {
        found.add(judged(JSON.readTree(bytes(channel, place.offset(), place.length()))));
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
    // The number of the group stands near the line's beginning.
    byte[] head = bytes(channel, offset, Math.min(length, 4_096));
    try (JsonParser parser = JSON.createParser(head)) {
      for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
        if (token == JsonToken.FIELD_NAME && parser.currentName().equals("group")) {
          parser.nextToken();
          index
              .computeIfAbsent(parser.getLongValue(), _ -> new ArrayList<>())
              .add(new Place(offset, length));
          if (index.size() > MAX_GROUPS) {
            index.remove(index.keySet().iterator().next());
          }
          return;
        }
      }
    } catch (com.fasterxml.jackson.core.JsonProcessingException torn) {
      // A line that a crash cut off belongs to no group.
    }
  }

  private static byte[] bytes(FileChannel channel, long offset, int length) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(length);
    while (bytes.hasRemaining() && channel.read(bytes, offset + bytes.position()) >= 0) {}
    return bytes.array();
  }

  private static Judged judged(JsonNode line) {
    List<Double> rewards = new ArrayList<>();
    line.path("rewards").forEach(reward -> rewards.add(reward.asDouble()));
    return new Judged(
        line.path("fence").asLong(),
        Text.of(line.path("prompt").asText()),
        Text.of(line.path("answer").asText()),
        texts(line.path("completions")),
        rewards,
        texts(line.path("verdicts")));
  }

  private static List<Text> texts(JsonNode array) {
    List<Text> texts = new ArrayList<>();
    array.forEach(text -> texts.add(Text.of(text.asText())));
    return texts;
  }
}
