package io.troupe.console.source;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.console.source.RolloutTexts.Text;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongPredicate;

/** The turns of a completion, and why it ended. */
public record EpisodeTurns(String stop, List<TurnTexts> turns) {
  /**
   * One turn.
   *
   * @param sequence training sequence that it is in, from 0
   * @param observed text that the turn's request added
   * @param spans of the sampled tokens, in their order
   * @param millis from the request to the last token
   * @param reward the environment's reward for the turn's calls
   */
  public record TurnTexts(
      String agent,
      int sequence,
      ObservedText observed,
      Text sampled,
      List<WeightedSpan> spans,
      long millis,
      List<ToolFacts> tools,
      double reward) {}

  /** The text that a turn's request added, without loss weight. */
  public record ObservedText(Text text, int tokens) {}

  /**
   * Consecutive sampled tokens of one version.
   *
   * @param lossWeight of each in the loss, before the loss shares it out among the tokens of an
   *     episode: 1, or 0 where it is too old or no later turn continues its turn
   */
  public record WeightedSpan(long version, int tokens, int lossWeight) {}

  /** A call of a tool that was carried out; lengths in bytes. */
  public record ToolFacts(
      String name, String outcome, int exit, long millis, long argumentBytes, long bytes) {}

  static EpisodeTurns of(JsonNode episode, LongPredicate stale) {
    List<TurnTexts> turns = new ArrayList<>();
    episode.path("turns").forEach(turn -> turns.add(turn(turn, stale)));
    return new EpisodeTurns(episode.path("stop").asText(), turns);
  }

  private static TurnTexts turn(JsonNode turn, LongPredicate stale) {
    List<WeightedSpan> spans = new ArrayList<>();
    for (JsonNode span : turn.path("versions")) {
      long version = span.path(0).asLong();
      boolean weighs = turn.path("trained").asBoolean() && !stale.test(version);
      spans.add(new WeightedSpan(version, span.path(1).asInt(), weighs ? 1 : 0));
    }
    List<ToolFacts> tools = new ArrayList<>();
    turn.path("tools").forEach(tool -> tools.add(tool(tool)));
    return new TurnTexts(
        turn.path("agent").asText(),
        turn.path("sequence").asInt(),
        new ObservedText(
            Text.of(turn.path("observed").asText()), turn.path("observed_tokens").asInt()),
        Text.of(turn.path("sampled").asText()),
        spans,
        turn.path("millis").asLong(),
        tools,
        turn.path("reward").asDouble());
  }

  private static ToolFacts tool(JsonNode tool) {
    return new ToolFacts(
        tool.path("name").asText(),
        tool.path("outcome").asText(),
        tool.path("exit").asInt(),
        tool.path("millis").asLong(),
        tool.path("argument_bytes").asLong(),
        tool.path("bytes").asLong());
  }
}
