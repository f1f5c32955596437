package io.troupe.cli.ops;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.base.text.SafeText;
import io.troupe.cli.ops.TextTable.Column;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code troupe groups}: a table of groups, or one group with its completions. */
@Command(
    name = "groups",
    description = "Groups of a run, or one with its completions.",
    footer = {"", "Examples:", "  troupe groups --only degenerate", "  troupe groups 17"})
final class GroupsCommand extends AnswerCommand {
  private static final TextTable TABLE =
      new TextTable(
          List.of(
              Column.number("group", "group"),
              Column.text("where", "stage"),
              new Column("reward", true, GroupsCommand::reward),
              Column.number("tokens", "tokens"),
              Column.count("oldest", "oldest"),
              Column.count("newest", "newest"),
              Column.count("stale", "staleness"),
              Column.number("step", "step"),
              Column.text("worker", "worker"),
              Column.text("trouble", "trouble")));

  @Parameters(arity = "0..1", paramLabel = "GROUP", description = "The number of one group.")
  private String group = "";

  @Option(
      names = "--only",
      description =
          "all, live, degenerate, stale, troubled, waiting, sampling, verifying, buffered,"
              + " training, trained, filtered, skipped or failed.")
  private String only = "all";

  @Option(names = "--order", description = "newest, longest, oldest or reward.")
  private String order = "newest";

  @Option(names = "--limit", description = "Most rows.")
  private int limit = 30;

  @Override
  String path() {
    return group.isEmpty()
        ? "/groups?only=%s&order=%s&limit=%d"
            .formatted(only.replaceAll("\\W", ""), order.replaceAll("\\W", ""), limit)
        : "/groups/" + group.replaceAll("[^0-9]", "");
  }

  @Override
  String text(JsonNode answer) {
    return group.isEmpty() ? TABLE.of(answer) : one(answer);
  }

  private static String reward(JsonNode group) {
    return group.path("rewards").isEmpty() ? "–" : group.path("reward").asText();
  }

  private static String one(JsonNode page) {
    StringBuilder text = new StringBuilder();
    JsonNode group = page.path("group");
    text.append(
        "g%s  %s  reward %s  worker %s  step %s%n"
            .formatted(
                group.path("group").asText(),
                group.path("stage").asText(),
                group.path("reward").asText(),
                SafeText.of(group.path("worker").asText()),
                group.path("step").asText()));
    for (JsonNode sampling : page.path("samplings")) {
      text.append("prompt  ").append(said(sampling.path("prompt"))).append('\n');
      for (int i = 0; i < sampling.path("completions").size(); i++) {
        text.append(
            "  %s  %s%n"
                .formatted(
                    sampling.path("rewards").path(i).asText("–"),
                    said(sampling.path("completions").path(i))));
        text.append(EpisodeLines.of(sampling.path("episodes").path(i)));
      }
    }
    return text.append(marks(page)) + InspectCommands.Events.TABLE.of(page.path("events"));
  }

  /** Returns the numbers of tokens that the loss treated apart, if the run recorded them. */
  private static String marks(JsonNode page) {
    List<String> kinds = List.of("low", "high", "cut", "masked");
    long[] tokens = new long[kinds.size()];
    for (JsonNode completion : page.path("token_marks")) {
      for (int i = 0; i < tokens.length; i++) {
        for (JsonNode run : completion.path(kinds.get(i))) {
          tokens[i] += run.path("tokens").asLong();
        }
      }
    }
    return page.path("token_marks").isEmpty()
        ? ""
        : "tokens  %d below the clip range, %d above it, %d with their weight cut, %d masked%n"
            .formatted(tokens[0], tokens[1], tokens[2], tokens[3]);
  }

  private static String said(JsonNode text) {
    return SafeText.of(text.path("text").asText());
  }
}
