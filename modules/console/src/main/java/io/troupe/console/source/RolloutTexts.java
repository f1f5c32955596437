package io.troupe.console.source;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongPredicate;
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
    /** A text, cut where it is longer than a page can show. */
    public static Text of(String whole) {
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

  private final JsonLineIndex lines;

  /** Texts of a file that may not be there yet. */
  public RolloutTexts(Path file) {
    lines = new JsonLineIndex(file, "group");
  }

  /**
   * Every judged sampling of a group, oldest first; empty when none is in the file.
   *
   * @param stale whether tokens of a version are too old to be trained on
   * @throws IOException if the file cannot be read
   */
  public List<Judged> of(long group, LongPredicate stale) throws IOException {
    return lines.of(group).stream().map(line -> judged(line, stale)).toList();
  }

  private static Judged judged(JsonNode line, LongPredicate stale) {
    List<EpisodeTurns> episodes = new ArrayList<>();
    line.path("episodes").forEach(episode -> episodes.add(EpisodeTurns.of(episode, stale)));
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
        episodes);
  }

  private static List<Text> texts(JsonNode array) {
    List<Text> texts = new ArrayList<>();
    array.forEach(text -> texts.add(Text.of(text.asText())));
    return texts;
  }
}
