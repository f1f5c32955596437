package io.troupe.cli.ops;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.PrintStream;

/** A command that prints one answer of the console. */
abstract class AnswerCommand extends OpsCommand {
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
