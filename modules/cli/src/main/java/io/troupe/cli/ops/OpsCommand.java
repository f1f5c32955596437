package io.troupe.cli.ops;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.cli.command.CliCommand;
import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * A command that talks to the console of a run. The run is its first argument, or {@code --run}, or
 * the newest one under way; other arguments follow it.
 */
abstract class OpsCommand extends CliCommand {
  @Parameters(
      index = "0",
      arity = "0..1",
      paramLabel = "RUN",
      description = "Folder or name of the run; by default the newest one that is under way.")
  private String first = "";

  @Option(names = "--run", paramLabel = "RUN", description = "The same, as an option.")
  private String run = "";

  @Option(names = "--json", description = "The API's answer, one JSON object or array a line.")
  private boolean json;

  @Override
  public Integer call() throws IOException, InterruptedException {
    own(); // Wrong arguments are refused before a run is looked for.
    try (ConsoleClient client = ConsoleClient.find(run(), readsFolders())) {
      return run(client, json, System.out);
    }
  }

  /** Asks and prints. */
  abstract int run(ConsoleClient client, boolean json, PrintStream out)
      throws IOException, InterruptedException;

  /** Whether the folder of a run that nobody works on is answer enough. */
  boolean readsFolders() {
    return false;
  }

  /** The arguments behind the first, empty where they are not given. */
  List<String> more() {
    return List.of();
  }

  /** The names of the arguments that there must be beside the run. */
  List<String> needed() {
    return List.of();
  }

  /** Whether an only argument, of a command that needs none, is something else than a run. */
  boolean isOwn(String argument) {
    return false;
  }

  private List<String> given() {
    List<String> given = new ArrayList<>(List.of(first));
    given.addAll(more());
    given.removeIf(String::isEmpty);
    return given;
  }

  private boolean namesRun(List<String> given) {
    return given.size() > needed().size()
        && !(needed().isEmpty() && given.size() == 1 && isOwn(first));
  }

  /** Returns the arguments that do not name the run. */
  final List<String> own() {
    List<String> given = given();
    if (given.size() < needed().size()) {
      throw refused(
          "missing: " + String.join(" ", needed().subList(given.size(), needed().size())));
    }
    return namesRun(given) ? given.subList(1, given.size()) : given;
  }

  /** Returns the run as it is named; empty if it is not. */
  final String run() {
    if (!namesRun(given())) {
      return run;
    }
    if (!run.isEmpty()) {
      throw refused("the run is named twice: %s, and by --run %s".formatted(first, run));
    }
    return first;
  }

  /** Whether the answer is wanted as JSON. */
  final boolean json() {
    return json;
  }

  /** Reads an argument that must be a number. */
  final long number(String name, String argument) {
    try {
      return Long.parseLong(argument);
    } catch (NumberFormatException word) {
      throw refused("%s is a number, not '%s'".formatted(name, argument), word);
    }
  }

  static int print(JsonNode answer, boolean json, PrintStream out, Supplier<String> text)
      throws IOException {
    out.print(json ? ConsoleClient.JSON.writeValueAsString(answer) + "\n" : text.get());
    out.flush();
    return 0;
  }
}
