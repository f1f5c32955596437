package io.troupe.cli.ops;

import io.troupe.cli.command.CliCommand;
import io.troupe.cli.command.RunArgument;
import io.troupe.console.ConsoleServer;
import io.troupe.console.ConsoleSettings;
import io.troupe.run.console.FolderRun;
import io.troupe.run.simulation.ModelFile;
import io.troupe.run.simulation.UnmodelledRunException;
import io.troupe.store.folder.RunFolder;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code troupe console}: the console over a run's folder. */
@Command(
    name = "console",
    description = "Opens the console on a run's folder: a dead run, or one of another process.",
    footer = {
      "",
      "Examples:",
      "  troupe console runs/quickstart-20261121-140200",
      "  troupe console runs/quickstart-20261121-140200 --model model.json"
    })
public final class ConsoleCommand extends CliCommand {
  private static final long FOLLOW_MILLIS = 500;

  @Mixin private RunArgument run = new RunArgument();

  @Option(
      names = "--port",
      description = "First port tried; 0 takes any. Default: ${DEFAULT-VALUE}.")
  private int port = 8460;

  @Option(
      names = "--model",
      paramLabel = "FILE",
      description =
          "Model of all latencies, of `troupe fit` or written by hand, for the page Prediction; by"
              + " default model.json of the run folder, else a fit of the run.")
  private @Nullable Path model;

  @Override
  public Integer call() throws IOException, InterruptedException, UnmodelledRunException {
    RunFolder folder = run.open();
    if (model != null) {
      ModelFile.read(model); // A broken file is refused here, before a page is opened.
    }
    try (FolderRun source = FolderRun.open(folder, model == null ? folder.model() : model);
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
