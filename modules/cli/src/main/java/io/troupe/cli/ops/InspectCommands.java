package io.troupe.cli.ops;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.base.text.SafeText;
import io.troupe.cli.ops.TextTable.Column;
import java.io.IOException;
import java.io.PrintStream;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The commands that look at a run under way; each prints one view of it. */
public final class InspectCommands {
  /** The classes of these commands. */
  public static final List<Class<?>> ALL =
      List.of(
          Status.class,
          TopCommand.class,
          Watch.class,
          GroupsCommand.class,
          Actors.class,
          NodesCommand.class,
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

  @Command(
      name = "status",
      description = {
        "How a run is doing, and what holds it back.",
        "Of a named run whose process is gone, how it was doing at the end."
      },
      footer = {"", "Examples:", "  troupe status", "  troupe status quickstart-20261121-140200"})
  static final class Status extends OpsCommand {
    @Override
    boolean readsFolders() {
      return true;
    }

    @Override
    int run(ConsoleClient client, boolean json, PrintStream out)
        throws IOException, InterruptedException {
      JsonNode run = client.get("/run");
      String where =
          client.isLive()
              ? "console " + client.base() + "\n"
              : "no process works on this run, or it has no console: this is what its folder says\n";
      return print(run, json, out, () -> StatusText.of(run) + where);
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
                    + Actors.TABLE.of(actors));
        if (once || run.path("phase").asText().equals("ended")) {
          return 0;
        }
        Thread.sleep(WATCH_MILLIS);
      }
    }
  }

  @Command(
      name = "actors",
      description = "Mailboxes, rates, times, restarts and errors of a run's actors.")
  static final class Actors extends AnswerCommand {
    static final TextTable TABLE =
        new TextTable(
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
                Column.text("last error", "last_error")));

    @Override
    String path() {
      return "/actors";
    }

    @Override
    String text(JsonNode rows) {
      return TABLE.of(rows);
    }

    private static String slowest(JsonNode row) {
      long slowest = 0;
      for (JsonNode message : row.path("messages")) {
        slowest = Math.max(slowest, message.path("p99_micros").asLong());
      }
      return Long.toString(slowest);
    }
  }

  @Command(
      name = "verifiers",
      description = "Verifiers of a run, one by one: what each is at, and how much it has judged.")
  static final class Verifiers extends AnswerCommand {
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
  static final class Waits extends AnswerCommand {
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

  @Command(
      name = "events",
      description = "What happened in a run, newest last; of a run that has ended, too.")
  static final class Events extends AnswerCommand {
    @Override
    boolean readsFolders() {
      return true;
    }

    static final TextTable TABLE =
        new TextTable(
            List.of(
                Column.number("#", "sequence"),
                new Column("time", false, row -> at(row.path("at_millis"))),
                Column.text("what happened", "text")));

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
      return TABLE.of(events);
    }
  }
}
