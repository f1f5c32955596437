package io.troupe.store.checkpoint;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.core.rollout.Completion;
import io.troupe.core.rollout.FinishReason;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.ScoredGroup;
import io.troupe.core.rollout.TokenVersions;
import io.troupe.core.weights.WeightVersion;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The tokens of buffered groups in a checkpoint: {@code groups.jsonl}, one group a line, floats
 * written so that they read back bit for bit.
 */
public final class BufferedGroupFile {
  private static final ObjectMapper MAPPER = JsonMapper.builder().build();

  private BufferedGroupFile() {}

  /** Writes the groups, in order. */
  public static void write(Path file, List<ScoredGroup> groups) throws IOException {
    List<String> lines = new ArrayList<>();
    for (ScoredGroup group : groups) {
      lines.add(MAPPER.writeValueAsString(node(group)));
    }
    Files.write(file, lines);
  }

  /**
   * Reads the groups, in order.
   *
   * @throws IOException if the file cannot be read or a line is not a group; names file and line
   */
  public static List<ScoredGroup> read(Path file) throws IOException {
    List<String> lines = Files.readAllLines(file);
    List<ScoredGroup> groups = new ArrayList<>();
    for (int i = 0; i < lines.size(); i++) {
      try {
        groups.add(group(MAPPER.readTree(lines.get(i))));
      } catch (JsonProcessingException | IllegalArgumentException e) {
        throw new IOException("%s:%d: not a group: %s".formatted(file, i + 1, e.getMessage()), e);
      }
    }
    return groups;
  }

  private static ObjectNode node(ScoredGroup group) {
    ObjectNode node = MAPPER.createObjectNode();
    node.put("group", group.lease().group().number());
    node.put("fence", group.lease().fence());
    ints(node.putArray("prompt"), group.prompt());
    ArrayNode completions = node.putArray("completions");
    for (int i = 0; i < group.completions().size(); i++) {
      Completion completion = group.completions().get(i);
      ObjectNode one = completions.addObject();
      one.put("reward", group.rewards().get(i));
      one.put("finish", completion.finishReason().name());
      ints(one.putArray("tokens"), completion.tokens());
      ArrayNode logProbs = one.putArray("log_probs");
      for (float logProb : completion.logProbs()) {
        logProbs.add(logProb);
      }
      ArrayNode versions = one.putArray("versions");
      for (TokenVersions.Span span : completion.versions().spans()) {
        versions.addArray().add(span.version().number()).add(span.tokens());
      }
    }
    return node;
  }

  private static void ints(ArrayNode array, int[] values) {
    for (int value : values) {
      array.add(value);
    }
  }

  private static ScoredGroup group(JsonNode node) {
    LeaseId lease =
        new LeaseId(new GroupId(node.required("group").asLong()), node.required("fence").asLong());
    List<Completion> completions = new ArrayList<>();
    List<Double> rewards = new ArrayList<>();
    for (JsonNode one : node.required("completions")) {
      rewards.add(one.required("reward").asDouble());
      completions.add(completion(one));
    }
    return new ScoredGroup(lease, ints(node.required("prompt")), completions, rewards);
  }

  private static Completion completion(JsonNode node) {
    JsonNode logProbs = node.required("log_probs");
    float[] floats = new float[logProbs.size()];
    for (int i = 0; i < floats.length; i++) {
      floats[i] = Float.parseFloat(logProbs.get(i).asText());
    }
    List<TokenVersions.Span> spans = new ArrayList<>();
    for (JsonNode span : node.required("versions")) {
      spans.add(
          new TokenVersions.Span(new WeightVersion(span.get(0).asLong()), span.get(1).asInt()));
    }
    return new Completion(
        ints(node.required("tokens")),
        floats,
        new TokenVersions(spans),
        FinishReason.valueOf(node.required("finish").asText()));
  }

  private static int[] ints(JsonNode array) {
    int[] values = new int[array.size()];
    for (int i = 0; i < values.length; i++) {
      values[i] = array.get(i).asInt();
    }
    return values;
  }
}
