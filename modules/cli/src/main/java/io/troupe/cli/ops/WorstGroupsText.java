package io.troupe.cli.ops;

import io.troupe.base.text.SafeText;
import io.troupe.run.rollouts.RolloutGroup;
import io.troupe.run.rollouts.WorstGroups;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;

/**
 * The worst groups of a run for people and programs.
 *
 * @param hasTexts whether the run has traces
 */
record WorstGroupsText(String run, WorstGroups found, boolean hasTexts) {
  private static final int PROMPT = 400;
  private static final int COMPLETION = 160;

  /** Completions that read alike share a line. */
  private record Line(String reward, String text, String reason) {}

  String text() {
    StringBuilder text = new StringBuilder();
    for (RolloutGroup group : found.worst()) {
      text.append(heading(group));
      if (group.hasTexts()) {
        text.append("  prompt  %s%n".formatted(SafeText.of(group.prompt(), PROMPT)));
        text.append("  answer  %s%n".formatted(SafeText.of(group.answer())));
      }
      lines(group)
          .forEach(
              (line, count) ->
                  text.append(
                      "  %7s%s  %s%s%n"
                          .formatted(
                              line.reward(),
                              count > 1 ? " ×" + count : "",
                              line.text(),
                              line.reason().isEmpty() ? "" : "  — " + line.reason())));
      text.append('\n');
    }
    return text.append(
            String.format(
                Locale.ROOT,
                "%s: %,d of %,d groups that were chosen from %,d%s",
                run,
                found.worst().size(),
                found.taken(),
                found.seen(),
                hasTexts ? "" : "; without texts, because the run has no traces"))
        .toString();
  }

  private static String heading(RolloutGroup group) {
    List<String> parts = new ArrayList<>();
    parts.add("g%d".formatted(group.lease().group().number()));
    parts.add(group.stage().word());
    if (group.step() > 0) {
      parts.add("step %d".formatted(group.step()));
    }
    parts.add("mean reward " + number(group.meanReward()));
    parts.add("%d completions".formatted(group.size()));
    if (group.truncated() > 0) {
      parts.add("%d truncated".formatted(group.truncated()));
    }
    if (group.tokens() > 0) {
      parts.add(String.format(Locale.ROOT, "%,d tokens", group.tokens()));
    }
    if (!group.promptId().isEmpty()) {
      parts.add(SafeText.of(group.promptId()));
    }
    return String.join("  ", parts) + "\n";
  }

  private static Map<Line, Integer> lines(RolloutGroup group) {
    Map<Line, Integer> lines = new LinkedHashMap<>();
    for (int i = 0; i < group.size(); i++) {
      lines.merge(
          new Line(
              number(group.reward(i)),
              group.hasTexts() ? SafeText.of(group.text(i), COMPLETION) : "",
              SafeText.of(group.reason(i))),
          1,
          Integer::sum);
    }
    return lines;
  }

  private static String number(OptionalDouble reward) {
    return reward.isEmpty() ? "–" : String.format(Locale.ROOT, "%.3f", reward.getAsDouble());
  }

  /** All texts whole: a group an object. */
  List<Map<String, Object>> json() {
    List<Map<String, Object>> groups = new ArrayList<>();
    for (RolloutGroup group : found.worst()) {
      Map<String, Object> object = new LinkedHashMap<>();
      object.put("group", group.lease().group().number());
      object.put("stage", group.stage().word());
      if (group.step() > 0) {
        object.put("step", group.step());
      }
      group.meanReward().ifPresent(mean -> object.put("mean_reward", mean));
      object.put("tokens", group.tokens());
      object.put("truncated", group.truncated());
      object.put("completions", group.rows().toList());
      groups.add(object);
    }
    return groups;
  }
}
