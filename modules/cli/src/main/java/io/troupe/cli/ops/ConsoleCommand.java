package io.troupe.cli.ops;

import io.troupe.console.ConsoleServer;
import io.troupe.console.ConsoleSettings;
import io.troupe.run.console.FolderRun;
import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code troupe console}: the console over a run's folder. */
@Command(
    name = "console",
    mixinStandardHelpOptions = true,
    description = "Opens the console on a run's folder: a dead run, or one of another process.",
    footer = {"", "Example:", "  troupe console runs/quickstart-20261121-140200"})
public final class ConsoleCommand implements Callable<Integer> {
  private static final long FOLLOW_MILLIS = 500;

  @Parameters(paramLabel = "RUN", description = "Folder or name of the run.")
  private String run = "";

  @Option(
      names = "--port",
      defaultValue = "8460",
      description = "First port tried; 0 takes any. Default: ${DEFAULT-VALUE}.")
  private int port = 8460;

  @Override
  public Integer call() throws IOException, InterruptedException {
    RunFolder folder = RunFolder.open(Path.of("runs"), run);
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
