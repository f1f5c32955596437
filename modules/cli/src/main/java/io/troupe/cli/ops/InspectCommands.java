package io.troupe.cli.ops;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.cli.ops.TextTable.Column;
import io.troupe.telemetry.export.SafeText;
import java.io.IOException;
import java.io.PrintStream;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The commands that look at a run under way. */
public final class InspectCommands {
  /** The classes of these commands. */
  public static final List<Class<?>> ALL =
      List.of(
          Status.class,
          TopCommand.class,
          Watch.class,
          Groups.class,
          Actors.class,
          Nodes.class,
          Verifiers.class,
          Threads.class,
          Waits.class,
          Events.class);

  private static final DateTimeFormatter CLOCK =
      DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT).withZone(ZoneId.systemDefault());
  private static final long WATCH_MILLIS = 1_000;

  private InspectCommands() {}

  private static String at(JsonNode millis) {
    return CLOCK.format(Instant.ofEpochMilli(millis.asLong()));
  }

  /** A command that prints one answer of the console. */
  abstract static class Answer extends OpsCommand {
    /** Path and query of the request. */
    abstract String path();

    /** The answer for people. */
    abstract String text(JsonNode answer);

    @Override
    final int run(ConsoleClient client, boolean json, PrintStream out)
        throws IOException, InterruptedException {
      JsonNode answer = client.get(path());
      return print(answer, json, out, () -> text(answer));
    }
  }

  @Command(name = "status", description = "How a run under way is doing, and what holds it back.")
  static final class Status extends OpsCommand {
    @Override
    int run(ConsoleClient client, boolean json, PrintStream out)
        throws IOException, InterruptedException {
      JsonNode run = client.get("/run");
      return print(run, json, out, () -> StatusText.of(run) + "console " + client.base() + "\n");
    }
  }

  @Command(
      name = "watch",
      description = "Status, waits and actors of a run, once a second, until ^C or the run's end.")
  static final class Watch extends OpsCommand {
    @Option(names = "--once", description = "Print once and leave.")
    private boolean once;

    @Override
    int run(ConsoleClient client, boolean json, PrintStream out)
        throws IOException, InterruptedException {
      boolean screen = !json && !once && Objects.requireNonNull(System.console()).isTerminal();
      while (true) {
        JsonNode run = client.get("/run");
        JsonNode waits = client.get("/waits");
        JsonNode actors = client.get("/actors");
        String clear = screen ? "\u001b[H\u001b[2J" : "";
        print(
            run,
            json,
            out,
            () ->
                clear
                    + StatusText.of(run)
                    + "\n"
                    + Waits.root(waits)
                    + "\n"
                    + Actors.table(actors));
        if (once || run.path("phase").asText().equals("ended")) {
          return 0;
        }
        Thread.sleep(WATCH_MILLIS);
      }
    }
  }

  @Command(
      name = "groups",
      description = "Groups of a run, or one with its completions.",
      footer = {"", "Examples:", "  troupe groups --only degenerate", "  troupe groups 17"})
  static final class Groups extends Answer {
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
      return group.isEmpty() ? table(answer) : one(answer);
    }

    private static String table(JsonNode rows) {
      return new TextTable(
              List.of(
                  Column.number("group", "group"),
                  Column.text("where", "stage"),
                  new Column("reward", true, Groups::reward),
                  Column.number("tokens", "tokens"),
                  Column.count("oldest", "oldest"),
                  Column.count("newest", "newest"),
                  Column.count("stale", "staleness"),
                  Column.number("step", "step"),
                  Column.text("worker", "worker"),
                  Column.text("trouble", "trouble")))
          .of(rows);
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
      return text.append(marks(page)) + Events.table(page.path("events"));
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

  @Command(
      name = "actors",
      description = "Mailboxes, rates, times, restarts and errors of a run's actors.")
  static final class Actors extends Answer {
    @Override
    String path() {
      return "/actors";
    }

    @Override
    String text(JsonNode rows) {
      return table(rows);
    }

    static String table(JsonNode rows) {
      return new TextTable(
              List.of(
                  Column.text("process", "jvm"),
                  Column.text("actor", "path"),
                  Column.number("mailbox", "depth"),
                  Column.number("oldest ms", "oldest_wait_millis"),
                  Column.number("handled", "handled"),
                  new Column(
                      "per s",
                      true,
                      row -> String.format(Locale.ROOT, "%.1f", row.path("per_second").asDouble())),
                  new Column("p99 µs", true, Actors::slowest),
                  Column.number("restarts", "restarts"),
                  Column.text("last error", "last_error")))
          .of(rows);
    }

    private static String slowest(JsonNode row) {
      long slowest = 0;
      for (JsonNode message : row.path("messages")) {
        slowest = Math.max(slowest, message.path("p99_micros").asLong());
      }
      return Long.toString(slowest);
    }
  }

  @Command(name = "nodes", description = "Nodes of a run and their workers.")
  static final class Nodes extends Answer {
    @Override
    String path() {
      return "/nodes";
    }

    @Override
    String text(JsonNode nodes) {
      StringBuilder text = new StringBuilder();
      for (JsonNode node : nodes) {
        text.append(SafeText.of(node.path("node").asText())).append('\n');
        node.path("facts").forEach(facts -> text.append(facts(facts)));
        text.append(
            new TextTable(
                    List.of(
                        Column.text("worker", "worker"),
                        Column.text("present", "present"),
                        Column.number("version", "version"),
                        Column.number("behind", "behind"),
                        Column.number("holds", "holds"),
                        Column.number("demand", "demand"),
                        Column.number("answered", "answered"),
                        Column.number("tokens", "tokens")))
                .of(node.path("workers")));
        if (!node.path("gpus").isEmpty()) {
          text.append(gpus(node.path("gpus")));
        }
      }
      return text.toString();
    }

    private static String facts(JsonNode facts) {
      List<String> parts = new ArrayList<>();
      parts.add(facts.path("placement").asText());
      if (facts.path("version").asLong() >= 0) {
        long behind = facts.path("behind").asLong();
        parts.add(
            "weights v%d%s"
                .formatted(
                    facts.path("version").asLong(),
                    behind > 0 ? ", %d behind".formatted(behind) : ""));
      }
      parts.add(facts.path("trouble").asText());
      parts.removeIf(String::isEmpty);
      return parts.isEmpty() ? "" : "  " + SafeText.of(String.join("; ", parts)) + "\n";
    }

    private static String gpus(JsonNode gpus) {
      return new TextTable(
              List.of(
                  Column.number("gpu", "index"),
                  Column.text("name", "name"),
                  new Column("used GiB", true, gpu -> gib(gpu.path("used_bytes"))),
                  new Column("of GiB", true, gpu -> gib(gpu.path("memory_bytes"))),
                  new Column("busy %", true, Nodes::busy),
                  Column.text("state", "state"),
                  Column.text("whose", "whose")))
          .of(gpus);
    }

    private static String gib(JsonNode bytes) {
      return bytes.asLong() == 0
          ? "-"
          : String.format(Locale.ROOT, "%.1f", bytes.asDouble() / (1L << 30));
    }

    private static String busy(JsonNode gpu) {
      int percent = gpu.path("utilisation").asInt();
      return percent < 0 ? "-" : Integer.toString(percent);
    }
  }

  @Command(
      name = "verifiers",
      description = "Verifiers of a run, one by one: what each is at, and how much it has judged.")
  static final class Verifiers extends Answer {
    @Override
    String path() {
      return "/verifiers";
    }

    @Override
    String text(JsonNode rows) {
      return new TextTable(
              List.of(
                  Column.text("verifier", "name"),
                  Column.text("doing", "doing"),
                  Column.number("judged", "judged")))
          .of(rows);
    }
  }

  @Command(
      name = "threads",
      description = "Stack traces of the threads of a process of the run.",
      footer = {"", "Examples:", "  troupe threads", "  troupe threads --jvm node-b-w1"})
  static final class Threads extends OpsCommand {
    @Mixin private JvmOption jvm = new JvmOption();

    @Override
    int run(ConsoleClient client, boolean json, PrintStream out)
        throws IOException, InterruptedException {
      String text = client.text("/threads?" + jvm.query());
      return print(ConsoleClient.JSON.valueToTree(text), json, out, () -> text);
    }
  }

  @Command(
      name = "waits",
      description = "Who waits for whom, since when, and what all of them wait for.")
  static final class Waits extends Answer {
    @Override
    String path() {
      return "/waits";
    }

    @Override
    String text(JsonNode waits) {
      long now = waits.path("as_of").asLong();
      return root(waits)
          + "\n"
          + new TextTable(
                  List.of(
                      Column.text("who", "who"),
                      Column.text("waits for", "on"),
                      new Column("seconds", true, row -> seconds(now, row)),
                      Column.text("because", "why")))
              .of(waits.path("waits"));
    }

    /** Returns the root cause of all waits, a sentence a line. */
    static String root(JsonNode waits) {
      StringBuilder lines = new StringBuilder();
      for (String sentence : waits.path("root").asText().split("(?<=\\.) (?=[A-Z])", -1)) {
        lines.append(SafeText.of(sentence)).append('\n');
      }
      return lines.toString();
    }

    private static String seconds(long now, JsonNode row) {
      return String.format(Locale.ROOT, "%.1f", (now - row.path("since").asLong()) / 1000.0);
    }
  }

  @Command(name = "events", description = "What happened in a run, newest last.")
  static final class Events extends Answer {
    @Option(names = "--density", description = "0 the story, 1 and how groups end, 2 everything.")
    private int density;

    @Option(names = "--limit", description = "Most events.")
    private int limit = 40;

    @Override
    String path() {
      return "/events?density=%d&limit=%d".formatted(density, limit);
    }

    @Override
    String text(JsonNode events) {
      return table(events);
    }

    static String table(JsonNode events) {
      return new TextTable(
              List.of(
                  Column.number("#", "sequence"),
                  new Column("time", false, row -> at(row.path("at_millis"))),
                  Column.text("what happened", "text")))
          .of(events);
    }
  }
}
