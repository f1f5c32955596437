package io.troupe.cli.ops;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.base.text.SafeText;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** The picture of a run in a few lines of text. */
final class StatusText {
  private static final int BAR = 20;
  private static final String STOP = "episode_stop_";

  private StatusText() {}

  static String of(JsonNode run) {
    List<String> lines = new ArrayList<>();
    JsonNode facts = run.path("facts");
    JsonNode step = run.path("headline");
    lines.add(
        "%s  %s  step %s of %s  v%s"
            .formatted(
                SafeText.of(facts.path("run").asText()),
                run.path("paused").asBoolean() ? "PAUSED" : run.path("phase").asText(),
                run.path("version").asText(),
                facts.path("steps").asText(),
                run.path("version").asText()));
    lines.add(SafeText.of(run.path("bottleneck").asText()));
    for (JsonNode trouble : run.path("troubles")) {
      lines.add(
          SafeText.of(
              "! %s %s, for %d s: %s"
                  .formatted(
                      trouble.path("who").asText(),
                      trouble.path("what").asText(),
                      (run.path("as_of").asLong() - trouble.path("since").asLong()) / 1000,
                      trouble.path("reason").asText())));
    }
    if (!run.path("lost").asText().isEmpty()) {
      lines.add(SafeText.of("! lost " + run.path("lost").asText()));
    }
    lines.add("");
    for (JsonNode stage : run.path("stages")) {
      lines.add(
          "%-13s%s  %s%s"
              .formatted(
                  stage.path("name").asText(),
                  bar(stage.path("shares")),
                  shares(stage.path("shares")),
                  SafeText.of(stage.path("now").asText())));
    }
    lines.add("");
    lines.add(
        "reward %s   staleness %s/%s bound %s   groups/min %.1f   tokens/s %s   degenerate %s"
            .formatted(
                number(step.path("reward")),
                number(step.path("staleness_mean")),
                step.path("staleness_max").asText("–"),
                facts.path("max_staleness").asText(),
                run.path("groups_per_minute").asDouble(),
                number(step.path("tokens_per_second")),
                number(step.path("degenerate_share"))));
    episodes(step).ifPresent(lines::add);
    JsonNode accounting = run.path("accounting");
    lines.add(
        "admitted %s = trained %s + filtered %s + skipped %s + failed %s + pending %d   %s"
            .formatted(
                accounting.path("admitted").asText(),
                accounting.path("trained").asText(),
                accounting.path("filtered").asText(),
                accounting.path("skipped").asText(),
                accounting.path("failed").asText(),
                accounting.path("waiting").asLong()
                    + accounting.path("leased").asLong()
                    + accounting.path("buffered").asLong()
                    + accounting.path("training").asLong(),
                run.path("balanced").asBoolean() ? "(adds up)" : "(DOES NOT ADD UP)"));
    copy(run).ifPresent(lines::add);
    return String.join("\n", lines) + "\n";
  }

  /** The line of runs whose episodes have turns. */
  private static Optional<String> episodes(JsonNode step) {
    if (!step.has("episode_turns")) {
      return Optional.empty();
    }
    List<String> stops = new ArrayList<>();
    for (Map.Entry<String, JsonNode> metric : step.properties()) {
      if (metric.getKey().startsWith(STOP) && metric.getValue().asDouble() > 0) {
        stops.add(
            "%s %.0f%%"
                .formatted(
                    metric.getKey().substring(STOP.length()), 100 * metric.getValue().asDouble()));
      }
    }
    return Optional.of(
        "turns %s   an episode %s s, sampling %s s, tools %s s   ended by %s"
            .formatted(
                number(step.path("episode_turns")),
                number(step.path("episode_seconds")),
                number(step.path("episode_sample_seconds")),
                number(step.path("episode_tool_seconds")),
                String.join(", ", stops)));
  }

  private static Optional<String> copy(JsonNode run) {
    JsonNode copy = run.path("copy");
    String place = copy.path("place").asText();
    if (place.isEmpty()) {
      return Optional.empty();
    }
    long behind = (run.path("as_of").asLong() - copy.path("since").asLong()) / 1000;
    boolean complete = copy.path("objects").asInt() == 0 && copy.path("problem").asText().isEmpty();
    return Optional.of(
        SafeText.of(
            complete
                ? "copy %s   complete".formatted(place)
                : "copy %s   %d files and checkpoints behind, %d bytes, for %d s"
                    .formatted(
                        place, copy.path("objects").asInt(), copy.path("bytes").asLong(), behind)));
  }

  private static String bar(JsonNode shares) {
    StringBuilder bar = new StringBuilder();
    for (JsonNode share : shares) {
      String mark =
          switch (share.path("kind").asText()) {
            case "busy" -> "█";
            case "blocked" -> "▒";
            default -> "·";
          };
      bar.append(mark.repeat((int) Math.round(BAR * share.path("share").asDouble())));
    }
    return "%-20s".formatted(bar.length() > BAR ? bar.substring(0, BAR) : bar.toString());
  }

  private static String shares(JsonNode shares) {
    StringBuilder text = new StringBuilder();
    for (JsonNode share : shares) {
      text.append(
          String.format(
              Locale.ROOT,
              "%s %.0f%%  ",
              share.path("word").asText(),
              100 * share.path("share").asDouble()));
    }
    return "%-44s".formatted(text);
  }

  private static String number(JsonNode value) {
    return value.isNumber() ? String.format(Locale.ROOT, "%.4g", value.asDouble()) : "–";
  }
}
