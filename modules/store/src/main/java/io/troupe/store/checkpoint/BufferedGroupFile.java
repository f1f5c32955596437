package io.troupe.store.checkpoint;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.core.completion.Completion;
import io.troupe.core.completion.FinishReason;
import io.troupe.core.completion.TokenVersions;
import io.troupe.core.rollout.Episode;
import io.troupe.core.rollout.EpisodeSequence;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.LeaseId;
import io.troupe.core.rollout.ScoredGroup;
import io.troupe.core.rollout.StopReason;
import io.troupe.core.rollout.ToolRun;
import io.troupe.core.rollout.Turn;
import io.troupe.core.weights.WeightVersion;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Groups with their tokens, one a line, floats written so that they read back bit for bit: {@code
 * groups.jsonl} of a checkpoint, and each file of {@link StepTokenFiles}.
 */
public final class BufferedGroupFile {
  private static final ObjectMapper MAPPER = JsonMapper.builder().build();

  private BufferedGroupFile() {}

  /** Writes the groups, in order. */
  public static void write(Path file, List<ScoredGroup> groups) throws IOException {
    try (Writer lines = Files.newBufferedWriter(file)) {
      write(lines, groups);
    }
  }

  static void write(Writer lines, List<ScoredGroup> groups) throws IOException {
    for (ScoredGroup group : groups) {
      lines.write(MAPPER.writeValueAsString(node(group)));
      lines.write('\n');
    }
  }

  /**
   * Reads the groups, in order.
   *
   * @throws IOException if the file cannot be read or a line is not a group; names file and line
   */
  public static List<ScoredGroup> read(Path file) throws IOException {
    try (BufferedReader lines = Files.newBufferedReader(file)) {
      return read(lines, file);
    }
  }

  static List<ScoredGroup> read(BufferedReader lines, Path file) throws IOException {
    List<ScoredGroup> groups = new ArrayList<>();
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      try {
        groups.add(group(MAPPER.readTree(line)));
      } catch (JsonProcessingException | IllegalArgumentException e) {
        throw new IOException(
            "%s:%d: not a group: %s".formatted(file, groups.size() + 1, e.getMessage()), e);
      }
    }
    return groups;
  }

  private static ObjectNode node(ScoredGroup group) {
    ObjectNode node = MAPPER.createObjectNode();
    node.put("group", group.lease().group().number());
    node.put("fence", group.lease().fence());
    ints(node.putArray("prompt"), group.prompt());
    ArrayNode episodes = node.putArray("episodes");
    for (int i = 0; i < group.episodes().size(); i++) {
      Episode episode = group.episodes().get(i);
      ObjectNode one = episodes.addObject();
      one.put("reward", group.rewards().get(i));
      one.put("stop", episode.stop().name());
      ArrayNode sequences = one.putArray("sequences");
      episode.sequences().forEach(each -> sequence(sequences.addObject(), group.prompt(), each));
    }
    return node;
  }

  private static void sequence(ObjectNode node, int[] prompt, EpisodeSequence sequence) {
    if (!Arrays.equals(sequence.prompt(), prompt)) {
      ints(node.putArray("prompt"), sequence.prompt());
    }
    ArrayNode turns = node.putArray("turns");
    sequence.turns().forEach(turn -> turn(turns.addObject(), turn));
  }

  private static void turn(ObjectNode node, Turn turn) {
    Completion completion = turn.completion();
    node.put("ordinal", turn.ordinal());
    node.put("agent", turn.agent());
    ints(node.putArray("observed"), turn.observed());
    node.put("finish", completion.finishReason().name());
    ints(node.putArray("tokens"), completion.tokens());
    floats(node.putArray("log_probs"), completion.logProbs());
    if (completion.rawLogProbs().length > 0) {
      floats(node.putArray("raw_log_probs"), completion.rawLogProbs());
    }
    ArrayNode versions = node.putArray("versions");
    for (TokenVersions.Span span : completion.versions().spans()) {
      versions.addArray().add(span.version().number()).add(span.tokens());
    }
    node.put("trained", turn.trained());
    node.put("start_millis", turn.startMillis());
    node.put("end_millis", turn.endMillis());
    ArrayNode tools = node.putArray("tools");
    for (ToolRun run : turn.tools()) {
      tools
          .addObject()
          .put("id", run.id())
          .put("name", run.name())
          .put("outcome", run.outcome().name())
          .put("exit", run.exit())
          .put("start_millis", run.startMillis())
          .put("millis", run.millis())
          .put("argument_bytes", run.argumentBytes())
          .put("bytes", run.bytes());
    }
  }

  private static void floats(ArrayNode array, float[] values) {
    for (float value : values) {
      array.add(value);
    }
  }

  private static void ints(ArrayNode array, int[] values) {
    for (int value : values) {
      array.add(value);
    }
  }

  private static ScoredGroup group(JsonNode node) {
    LeaseId lease =
        new LeaseId(new GroupId(node.required("group").asLong()), node.required("fence").asLong());
    int[] prompt = ints(node.required("prompt"));
    List<Episode> episodes = new ArrayList<>();
    List<Double> rewards = new ArrayList<>();
    for (JsonNode one : node.required("episodes")) {
      rewards.add(one.required("reward").asDouble());
      List<EpisodeSequence> sequences = new ArrayList<>();
      for (JsonNode sequence : one.required("sequences")) {
        List<Turn> turns = new ArrayList<>();
        sequence.required("turns").forEach(turn -> turns.add(turn(turn)));
        int[] own = sequence.has("prompt") ? ints(sequence.required("prompt")) : prompt;
        sequences.add(new EpisodeSequence(own, turns));
      }
      episodes.add(new Episode(sequences, StopReason.valueOf(one.required("stop").asText())));
    }
    return new ScoredGroup(lease, prompt, episodes, rewards);
  }

  private static Turn turn(JsonNode node) {
    List<ToolRun> tools = new ArrayList<>();
    for (JsonNode run : node.required("tools")) {
      tools.add(
          new ToolRun(
              run.required("id").asText(),
              run.required("name").asText(),
              ToolRun.Outcome.valueOf(run.required("outcome").asText()),
              run.required("exit").asInt(),
              run.required("start_millis").asLong(),
              run.required("millis").asLong(),
              run.path("argument_bytes").asInt(), // a run's of before has none
              run.required("bytes").asInt()));
    }
    return new Turn(
        node.required("ordinal").asInt(),
        node.required("agent").asText(),
        ints(node.required("observed")),
        completion(node),
        node.required("trained").asBoolean(),
        tools,
        node.required("start_millis").asLong(),
        node.required("end_millis").asLong());
  }

  private static Completion completion(JsonNode node) {
    List<TokenVersions.Span> spans = new ArrayList<>();
    for (JsonNode span : node.required("versions")) {
      spans.add(
          new TokenVersions.Span(new WeightVersion(span.get(0).asLong()), span.get(1).asInt()));
    }
    return new Completion(
        ints(node.required("tokens")),
        floats(node.required("log_probs")),
        new TokenVersions(spans),
        FinishReason.valueOf(node.required("finish").asText()),
        floats(node.path("raw_log_probs")));
  }

  private static float[] floats(JsonNode array) {
    float[] floats = new float[array.size()];
    for (int i = 0; i < floats.length; i++) {
      floats[i] = Float.parseFloat(array.get(i).asText());
    }
    return floats;
  }

  private static int[] ints(JsonNode array) {
    int[] values = new int[array.size()];
    for (int i = 0; i < values.length; i++) {
      values[i] = array.get(i).asInt();
    }
    return values;
  }
}
