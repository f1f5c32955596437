package io.troupe.app.console;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.store.RunFolder;
import io.troupe.telemetry.view.TensorBoardFile;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code troupe export}: a run's metrics for people who look elsewhere. */
@Command(
    name = "export",
    mixinStandardHelpOptions = true,
    description = "Gives a run's metrics to another tool.",
    subcommands = {ExportCommand.TensorBoard.class, ExportCommand.Mlflow.class})
public final class ExportCommand {
  private ExportCommand() {}

  private static Instant started(RunFolder folder) throws IOException {
    JsonNode papers = ConsoleClient.JSON.readTree(folder.path().resolve("run.json").toFile());
    return Instant.parse(papers.path("started").asText());
  }

  @Command(
      name = "tensorboard",
      mixinStandardHelpOptions = true,
      description = "Writes a run's metrics as TensorBoard's event files.",
      footer = {
        "",
        "Example:",
        "  troupe export tensorboard quickstart-20261121-140200 -o logs/quickstart"
      })
  static final class TensorBoard implements Callable<Integer> {
    @Parameters(paramLabel = "RUN", description = "Folder or name of the run.")
    private String run = "";

    @Option(
        names = {"-o", "--output"},
        required = true,
        paramLabel = "DIR",
        description = "Folder to write to; made if absent.")
    private @Nullable Path output;

    @Override
    public Integer call() throws IOException {
      RunFolder folder = RunFolder.open(Path.of("runs"), run);
      Path target = Objects.requireNonNull(output);
      double begin = started(folder).toEpochMilli() / 1000.0;
      List<Map<String, Object>> rows = MetricRows.read(folder.metrics(), 0);
      try (TensorBoardFile file = TensorBoardFile.create(target, begin)) {
        for (Map<String, Object> row : rows) {
          file.row(
              begin + ((Number) row.getOrDefault("seconds", 0)).doubleValue(),
              ((Number) row.getOrDefault("step", 0)).longValue(),
              row);
        }
      }
      System.err.printf("%d rows: tensorboard --logdir %s%n", rows.size(), target);
      return 0;
    }
  }

  @Command(
      name = "mlflow",
      mixinStandardHelpOptions = true,
      description =
          "Sends a run's configuration and metrics to an MLflow tracking server, as a new run"
              + " there. Reads MLFLOW_TRACKING_TOKEN, or MLFLOW_TRACKING_USERNAME and _PASSWORD, as"
              + " MLflow's own client does.",
      footer = {
        "",
        "Example:",
        "  troupe export mlflow quickstart-20261121-140200 --url http://127.0.0.1:5000"
      })
  static final class Mlflow implements Callable<Integer> {
    @Parameters(paramLabel = "RUN", description = "Folder or name of the run.")
    private String run = "";

    @Option(names = "--url", required = true, description = "The tracking server.")
    private String url = "";

    @Option(
        names = "--experiment",
        defaultValue = "troupe",
        description = "Its experiment; made if absent. Default ${DEFAULT-VALUE}.")
    private String experiment = "troupe";

    @Override
    public Integer call() throws IOException, InterruptedException {
      if (!url.matches("https?://[^/]+.*")) {
        System.err.printf(
            "error: --url %s is no address of a server; give one such as http://127.0.0.1:5000%n",
            url);
        return 2;
      }
      URI server = URI.create(url.replaceFirst("/+$", ""));
      RunFolder folder = RunFolder.open(Path.of("runs"), run);
      List<Map<String, Object>> rows = MetricRows.read(folder.metrics(), 0);
      try (MlflowServer mlflow =
          new MlflowServer(server, MlflowServer.credentials(System.getenv()))) {
        String made =
            mlflow.add(experiment, folder.name(), started(folder), folder.resolved(), rows);
        System.err.printf("%d rows: run %s of experiment %s%n", rows.size(), made, experiment);
      }
      return 0;
    }
  }
}
