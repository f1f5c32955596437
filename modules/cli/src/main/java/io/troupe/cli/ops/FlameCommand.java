package io.troupe.cli.ops;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.console.process.FlameFrame;
import java.io.IOException;
import java.io.PrintStream;
import java.time.Duration;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Samples the stacks of a run's process. */
@Command(
    name = "flame",
    description =
        "Samples the stacks of a process of a run and prints them folded, a stack and its count a"
            + " line, as flame graph programs read them. The console's page Nodes draws them.",
    footer = {
      "",
      "Examples:",
      "  troupe flame --seconds 20 > stacks.txt",
      "  troupe flame --jvm node-b-w1 > stacks.txt"
    })
public final class FlameCommand extends OpsCommand {
  private static final Duration BESIDES = Duration.ofSeconds(30);

  @Option(names = "--seconds", description = "How long, 1 to 60.")
  private int seconds = 5;

  @Mixin private JvmOption jvm = new JvmOption();

  @Override
  int run(ConsoleClient client, boolean json, PrintStream out)
      throws IOException, InterruptedException {
    JsonNode answer =
        client.get(
            "/flame?seconds=%d&%s".formatted(seconds, jvm.query()),
            BESIDES.plusSeconds(Math.max(0, seconds)));
    FlameFrame flame = ConsoleClient.JSON.treeToValue(answer, FlameFrame.class);
    return print(answer, json, out, flame::folded);
  }
}
