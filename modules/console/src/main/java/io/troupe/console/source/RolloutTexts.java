package io.troupe.console.source;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The texts of judged groups, read from {@code rollouts.jsonl} on request. */
public final class RolloutTexts {
  /** Longer texts are cut: a page cannot show more, and a hostile completion may be any size. */
  public static final int MAX_CHARACTERS = 20_000;

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

  /**
   * A group as it was judged under one lease.
   *
   * @param rewards of its completions, in their order; null for one that has none
   * @param episodes turns of each completion; none where each is one answer
   */
  public record Judged(
      long fence,
      Text prompt,
      Text answer,
      List<Text> completions,
      List<@Nullable Double> rewards,
      List<Text> verdicts,
      List<EpisodeTurns> episodes) {}

  /** The turns of a completion, and why it ended. */
  public record EpisodeTurns(String stop, List<TurnTexts> turns) {}

  /**
   * One turn.
   *
   * @param sequence training sequence that it is in, from 0
   * @param observed what its request added, without loss weight
   * @param tokens sampled ones
   * @param oldest version of a sampled token
   * @param newest version of a sampled token
   */
  public record TurnTexts(
      String agent,
      int sequence,
      Text observed,
      Text sampled,
      int tokens,
      long oldest,
      long newest,
      List<ToolFacts> tools) {}

  /** A call of a tool that was carried out. */
  public record ToolFacts(String name, String outcome, int exit, long millis, long bytes) {}

  private final JsonLineIndex lines;

  /** Texts of a file that may not be there yet. */
  public RolloutTexts(Path file) {
    lines = new JsonLineIndex(file, "group");
  }

  /**
   * Every judged sampling of a group, oldest first; empty when none is in the file.
   *
   * @throws IOException if the file cannot be read
   */
  public List<Judged> of(long group) throws IOException {
    return lines.of(group).stream().map(RolloutTexts::judged).toList();
  }

  private static Judged judged(JsonNode line) {
    List<@Nullable Double> rewards = new ArrayList<>();
    line.path("rewards")
        .forEach(reward -> rewards.add(reward.isNumber() ? reward.asDouble() : null));
    return new Judged(
        line.path("fence").asLong(),
        Text.of(line.path("prompt").asText()),
        Text.of(line.path("answer").asText()),
        texts(line.path("completions")),
        rewards,
        texts(line.path("verdicts")),
        episodes(line.path("episodes")));
  }

  private static List<EpisodeTurns> episodes(JsonNode array) {
    List<EpisodeTurns> episodes = new ArrayList<>();
    for (JsonNode episode : array) {
      List<TurnTexts> turns = new ArrayList<>();
      episode.path("turns").forEach(turn -> turns.add(turn(turn)));
      episodes.add(new EpisodeTurns(episode.path("stop").asText(), turns));
    }
    return episodes;
  }

  private static TurnTexts turn(JsonNode turn) {
    List<ToolFacts> tools = new ArrayList<>();
    for (JsonNode tool : turn.path("tools")) {
      tools.add(
          new ToolFacts(
              tool.path("name").asText(),
              tool.path("outcome").asText(),
              tool.path("exit").asInt(),
              tool.path("millis").asLong(),
              tool.path("bytes").asLong()));
    }
    return new TurnTexts(
        turn.path("agent").asText(),
        turn.path("sequence").asInt(),
        Text.of(turn.path("observed").asText()),
        Text.of(turn.path("sampled").asText()),
        turn.path("tokens").asInt(),
        turn.path("oldest").asLong(),
        turn.path("newest").asLong(),
        tools);
  }

  private static List<Text> texts(JsonNode array) {
    List<Text> texts = new ArrayList<>();
    array.forEach(text -> texts.add(Text.of(text.asText())));
    return texts;
  }
}
