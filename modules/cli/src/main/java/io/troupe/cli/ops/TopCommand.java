package io.troupe.cli.ops;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.PrintStream;
import java.util.List;
import java.util.Objects;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** A run on a terminal, for those who come by ssh. */
@Command(
    name = "top",
    description =
        "A run on the whole terminal: stages, nodes, workers and the busiest actors, once a second,"
            + " until ^C or the run's end. The run continues when you leave.")
public final class TopCommand extends OpsCommand {
  private static final long PAUSE_MILLIS = 1_000;
  private static final int COLUMNS = 100;
  private static final int ROWS = 50;

  /** The other screen, so that what was there before is there again afterwards; no cursor. */
  private static final String ENTER = "\u001b[?1049h\u001b[?25l";

  private static final String LEAVE = "\u001b[?25h\u001b[?1049l";
  private static final String HOME = "\u001b[H";
  private static final String END_OF_LINE = "\u001b[K\n";
  private static final String REST_OF_SCREEN = "\u001b[J";

  @Option(names = "--once", description = "Print once and leave.")
  private boolean once;

  @Override
  int run(ConsoleClient client, boolean json, PrintStream out)
      throws IOException, InterruptedException {
    boolean screen = !once && !json && Objects.requireNonNull(System.console()).isTerminal();
    if (!screen) {
      picture(client, json, out, "\n", COLUMNS, ROWS);
      return 0;
    }
    Thread leave =
        Thread.ofPlatform()
            .unstarted(
                () -> {
                  out.print(LEAVE);
                  out.flush();
                });
    Runtime.getRuntime().addShutdownHook(leave);
    out.print(ENTER);
    while (true) {
      int[] size = size();
      out.print(HOME);
      boolean ended = picture(client, false, out, END_OF_LINE, size[1], size[0] - 1);
      out.print(REST_OF_SCREEN);
      out.flush();
      if (ended) {
        return 0;
      }
      Thread.sleep(PAUSE_MILLIS);
    }
  }

  /** Whether the run has ended. */
  private static boolean picture(
      ConsoleClient client, boolean json, PrintStream out, String end, int columns, int rows)
      throws IOException, InterruptedException {
    JsonNode run = client.get("/run");
    List<String> lines =
        new TopScreen(columns, rows)
            .of(run, client.get("/nodes"), client.get("/waits"), client.get("/actors"));
    print(run, json, out, () -> String.join(end, lines) + end);
    return run.path("phase").asText().equals("ended");
  }

  /** Rows and columns, from the terminal driver: Java has no other way to ask. */
  private static int[] size() throws IOException, InterruptedException {
    Process stty =
        new ProcessBuilder("stty", "size").redirectInput(ProcessBuilder.Redirect.INHERIT).start();
    String[] words = new String(stty.getInputStream().readAllBytes(), UTF_8).strip().split(" ", -1);
    if (stty.waitFor() != 0 || words.length != 2) {
      return new int[] {ROWS, COLUMNS};
    }
    return new int[] {Integer.parseInt(words[0]), Integer.parseInt(words[1])};
  }
}
