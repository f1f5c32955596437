package io.troupe.cli.ops;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.telemetry.export.SafeText;

/** The turns of an episode as lines: what was observed, what was sampled, which tools ran. */
final class EpisodeLines {
  private EpisodeLines() {}

  /** Returns the lines of an episode; nothing for one answer without tools. */
  static String of(JsonNode episode) {
    StringBuilder text = new StringBuilder();
    int number = 0;
    for (JsonNode turn : episode.path("turns")) {
      number++;
      if (!turn.path("observed").path("text").asText().isEmpty()) {
        text.append("      observed  ").append(said(turn.path("observed"))).append('\n');
      }
      text.append(
          "    turn %d  %s, sequence %d, %s, %d tokens  %s%n"
              .formatted(
                  number,
                  SafeText.of(turn.path("agent").asText()),
                  turn.path("sequence").asInt(),
                  versions(turn),
                  turn.path("tokens").asInt(),
                  said(turn.path("sampled"))));
      for (JsonNode tool : turn.path("tools")) {
        text.append(
            "      tool %s  %s, exit %d, %d ms, %d bytes%n"
                .formatted(
                    SafeText.of(tool.path("name").asText()),
                    SafeText.of(tool.path("outcome").asText()),
                    tool.path("exit").asInt(),
                    tool.path("millis").asLong(),
                    tool.path("bytes").asLong()));
      }
    }
    return number == 0
        ? ""
        : text + "    ended by %s%n".formatted(SafeText.of(episode.path("stop").asText()));
  }

  private static String versions(JsonNode turn) {
    long oldest = turn.path("oldest").asLong();
    long newest = turn.path("newest").asLong();
    return oldest == newest ? "v" + oldest : "v%d to v%d".formatted(oldest, newest);
  }

  private static String said(JsonNode text) {
    return SafeText.of(text.path("text").asText());
  }
}
