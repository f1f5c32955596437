package io.troupe.app.console;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.store.RunFolder;
import io.troupe.telemetry.view.TensorBoardFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
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
    description = "Writes a run's metrics in another tool's format.",
    footer = {
      "",
      "Example:",
      "  troupe export tensorboard quickstart-20261121-140200 -o logs/quickstart"
    })
public final class ExportCommand implements Callable<Integer> {
  /** Formats there are. */
  enum Format {
    TENSORBOARD
  }

  @Parameters(index = "0", paramLabel = "FORMAT", description = "${COMPLETION-CANDIDATES}.")
  private Format format = Format.TENSORBOARD;

  @Parameters(index = "1", paramLabel = "RUN", description = "Folder or name of the run.")
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
    return switch (format) {
      case TENSORBOARD -> tensorBoard(folder, Objects.requireNonNull(output));
    };
  }

  private static int tensorBoard(RunFolder folder, Path target) throws IOException {
    JsonNode started = ConsoleClient.JSON.readTree(folder.path().resolve("run.json").toFile());
    double begin = Instant.parse(started.path("started").asText()).toEpochMilli() / 1000.0;
    long rows = 0;
    try (TensorBoardFile file = TensorBoardFile.create(target, begin);
        var lines = Files.lines(folder.metrics())) {
      for (String line : (Iterable<String>) lines::iterator) {
        Map<String, Object> row =
            ConsoleClient.JSON.readValue(line, new TypeReference<Map<String, Object>>() {});
        file.row(
            begin + ((Number) row.getOrDefault("seconds", 0)).doubleValue(),
            ((Number) row.getOrDefault("step", 0)).longValue(),
            row);
        rows++;
      }
    }
    System.err.printf("%d rows: tensorboard --logdir %s%n", rows, target);
    return 0;
  }
}
