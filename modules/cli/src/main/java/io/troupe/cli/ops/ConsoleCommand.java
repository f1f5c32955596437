package io.troupe.cli.ops;

import io.troupe.cli.command.CliCommand;
import io.troupe.cli.command.RunArgument;
import io.troupe.console.ConsoleServer;
import io.troupe.console.ConsoleSettings;
import io.troupe.run.console.FolderRun;
import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code troupe console}: the console over a run's folder. */
@Command(
    name = "console",
    description = "Opens the console on a run's folder: a dead run, or one of another process.",
    footer = {"", "Example:", "  troupe console runs/quickstart-20261121-140200"})
public final class ConsoleCommand extends CliCommand {
  private static final long FOLLOW_MILLIS = 500;

  @Mixin private RunArgument run = new RunArgument();

  @Option(
      names = "--port",
      defaultValue = "8460",
      description = "First port tried; 0 takes any. Default: ${DEFAULT-VALUE}.")
  private int port = 8460;

  @Override
  public Integer call() throws IOException, InterruptedException {
    RunFolder folder = run.open();
    try (FolderRun source = FolderRun.open(folder);
        ConsoleServer server = ConsoleServer.start(ConsoleSettings.loopback(port), source)) {
      System.err.println(
          "%s: %,d events · ^C ends it".formatted(folder.name(), source.fold().sequence()));
      System.out.println("console " + server.link());
      while (true) {
        Thread.sleep(FOLLOW_MILLIS);
        source.follow();
      }
    }
  }
}
