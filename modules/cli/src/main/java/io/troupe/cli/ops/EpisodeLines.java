package io.troupe.cli.ops;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.base.text.SafeText;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The turns of an episode as lines: what was observed, what was sampled, which tools ran. */
final class EpisodeLines {
  private EpisodeLines() {}

  /** Returns the lines of an episode; nothing for one answer without tools. */
  static String of(JsonNode episode) {
    StringBuilder text = new StringBuilder();
    int number = 0;
    for (JsonNode turn : episode.path("turns")) {
      number++;
      JsonNode observed = turn.path("observed");
      if (!said(observed.path("text")).isEmpty()) {
        text.append(
            "      observed, %d tokens of loss weight 0  %s%n"
                .formatted(observed.path("tokens").asInt(), said(observed.path("text"))));
      }
      text.append(
          "    turn %d  %s, sequence %d, %s, %d ms  %s%n"
              .formatted(
                  number,
                  SafeText.of(turn.path("agent").asText()),
                  turn.path("sequence").asInt(),
                  sampled(turn),
                  turn.path("millis").asLong(),
                  said(turn.path("sampled"))));
      for (JsonNode tool : turn.path("tools")) {
        text.append(
            "      tool %s  %s, exit %d, %d ms, arguments %d bytes, result %d bytes%n"
                .formatted(
                    SafeText.of(tool.path("name").asText()),
                    SafeText.of(tool.path("outcome").asText()),
                    tool.path("exit").asInt(),
                    tool.path("millis").asLong(),
                    tool.path("argument_bytes").asLong(),
                    tool.path("bytes").asLong()));
      }
      if (turn.path("reward").asDouble() != 0) {
        text.append(
            String.format(
                Locale.ROOT, "      reward of the turn %.4g%n", turn.path("reward").asDouble()));
      }
    }
    return number == 0
        ? ""
        : text + "    ended by %s%n".formatted(SafeText.of(episode.path("stop").asText()));
  }

  private static String sampled(JsonNode turn) {
    List<String> spans = new ArrayList<>();
    for (JsonNode span : turn.path("spans")) {
      spans.add(
          "%d tokens of v%d with loss weight %d"
              .formatted(
                  span.path("tokens").asInt(),
                  span.path("version").asLong(),
                  span.path("loss_weight").asInt()));
    }
    return String.join(" and ", spans);
  }

  private static String said(JsonNode text) {
    return SafeText.of(text.path("text").asText());
  }
}
