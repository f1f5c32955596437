package io.troupe.cli.ops;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.cli.command.CliCommand;
import java.io.IOException;
import java.io.PrintStream;
import java.util.function.Supplier;
import picocli.CommandLine.Option;

/** A command that talks to the console of a run. */
abstract class OpsCommand extends CliCommand {
  @Option(
      names = "--run",
      paramLabel = "RUN",
      description = "Folder or name of the run; by default the newest one that is under way.")
  private String run = "";

  @Option(names = "--json", description = "The API's answer, one JSON object or array a line.")
  private boolean json;

  @Override
  public final Integer call() throws IOException, InterruptedException {
    try (ConsoleClient client = ConsoleClient.find(run)) {
      return run(client, json, System.out);
    }
  }

  /** Asks and prints. */
  abstract int run(ConsoleClient client, boolean json, PrintStream out)
      throws IOException, InterruptedException;

  static int print(JsonNode answer, boolean json, PrintStream out, Supplier<String> text)
      throws IOException {
    out.print(json ? ConsoleClient.JSON.writeValueAsString(answer) + "\n" : text.get());
    out.flush();
    return 0;
  }
}
