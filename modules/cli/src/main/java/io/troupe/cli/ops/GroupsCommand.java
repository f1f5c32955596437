package io.troupe.cli.ops;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.base.process.ExitCode;
import io.troupe.base.text.SafeText;
import io.troupe.cli.command.StepsOption;
import io.troupe.cli.ops.TextTable.Column;
import io.troupe.run.rollouts.RecordedRollouts;
import io.troupe.run.rollouts.WorstGroups;
import io.troupe.run.session.JsonText;
import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * {@code troupe groups}: a table of groups, one group with its completions, or the worst groups.
 */
@Command(
    name = "groups",
    description = {
      "Groups of a run, or one with its completions; of a run that has ended, too.",
      "With --worst, the worst of all groups of a run with prompts, completions, rewards and"
          + " reasons, from its journal and traces."
    },
    footer = {
      "",
      "Examples:",
      "  troupe groups --only degenerate",
      "  troupe groups 17",
      "  troupe groups quickstart-20261121-140200 17",
      "  troupe groups quickstart-20261121-140200 --worst 10 --steps 100-200",
      "  troupe groups --worst 5 --only wrong --order longest"
    })
final class GroupsCommand extends AnswerCommand {
  private static final Pattern GROUP = Pattern.compile("g?\\d+");
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

  @Parameters(
      index = "1",
      arity = "0..1",
      paramLabel = "GROUP",
      description = "The number of one group. Alone it needs no RUN before it.")
  private String group = "";

  @Option(
      names = "--only",
      description = {
        "all, live, degenerate, stale, troubled, waiting, sampling, verifying, buffered,"
            + " training, trained, filtered, skipped or failed.",
        "With --worst: all, degenerate, wrong (no completion passes), right (all pass), truncated,"
            + " trained, skipped, filtered, buffered, dropped or void."
      })
  private String only = "all";

  @Option(
      names = "--order",
      description = {
        "newest (the default), longest, oldest or reward.",
        "With --worst: reward (the default: lowest mean first), longest or truncated."
      })
  private String order = "";

  @Option(names = "--limit", description = "Most rows.")
  private int limit = 30;

  @Option(
      names = "--worst",
      paramLabel = "N",
      description = "The N worst groups of the whole run, in place of the table.")
  private int worst;

  @Mixin private StepsOption steps = new StepsOption();

  @Override
  List<String> more() {
    return List.of(group);
  }

  @Override
  boolean isOwn(String argument) {
    return GROUP.matcher(argument).matches();
  }

  @Override
  boolean readsFolders() {
    return true;
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    if (worst == 0) {
      steps.refuseWithout("--worst");
      return super.call();
    }
    if (worst < 0 || !own().isEmpty()) {
      throw refused("--worst takes a number of groups, 1 or more, and no GROUP");
    }
    if (has("--limit")) {
      throw refused("--worst has the number of groups; leave --limit out");
    }
    WorstGroups found = choice();
    steps.contains(0);
    RunFolder folder = recorded();
    RecordedRollouts rollouts = RecordedRollouts.of(folder);
    rollouts.forEach(
        each -> {
          if (steps.contains(each.period())) {
            found.offer(each);
          }
        });
    WorstGroupsText text = new WorstGroupsText(folder.name(), found, rollouts.hasTexts());
    out().println(json() ? new JsonText().line(text.json()) : text.text());
    out().flush();
    return ExitCode.OK.code();
  }

  private WorstGroups choice() {
    try {
      return WorstGroups.of(only, order.isEmpty() ? "reward" : order, worst);
    } catch (IllegalArgumentException word) {
      throw refused(String.valueOf(word.getMessage()), word);
    }
  }

  /** The folder of the run, live or not; of the newest one if none is named. */
  private RunFolder recorded() throws IOException {
    Path runs = Path.of("runs");
    String name = run();
    if (name.isEmpty()) {
      List<String> all = RunFolder.list(runs);
      if (all.isEmpty()) {
        throw refused("there is no run under runs/; name its folder");
      }
      name = all.getFirst();
    }
    return withRollouts(RunFolder.view(runs, name));
  }

  @Override
  String path() {
    return own().isEmpty()
        ? "/groups?only=%s&order=%s&limit=%d"
            .formatted(
                only.replaceAll("\\W", ""),
                order.isEmpty() ? "newest" : order.replaceAll("\\W", ""),
                limit)
        : "/groups/" + own().getFirst().replaceAll("[^0-9]", "");
  }

  @Override
  String text(JsonNode answer) {
    return own().isEmpty() ? TABLE.of(answer) : one(answer);
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
