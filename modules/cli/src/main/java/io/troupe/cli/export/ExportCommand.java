package io.troupe.cli.export;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.cli.command.CliCommand;
import io.troupe.cli.command.RunArgument;
import io.troupe.cli.gym.FactoryExportCommand;
import io.troupe.cli.ops.ConsoleClient;
import io.troupe.config.RunConfig;
import io.troupe.store.folder.RunFolder;
import io.troupe.store.journal.RunJournal;
import io.troupe.store.state.RunJson;
import io.troupe.telemetry.MetricsFile;
import io.troupe.telemetry.export.ExportClient;
import io.troupe.telemetry.export.GroupSpans;
import io.troupe.telemetry.export.MetricGroups;
import io.troupe.telemetry.export.MlflowClient;
import io.troupe.telemetry.export.OtlpExporter;
import io.troupe.telemetry.export.TensorBoardFile;
import io.troupe.telemetry.export.TraceSpan;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code troupe export}: a run for people who look elsewhere. */
@Command(
    name = "export",
    mixinStandardHelpOptions = true,
    description =
        "Gives a run's metrics, completions, the lives of its groups, or rows to train on, to another"
            + " tool.",
    subcommands = {
      ExportCommand.TensorBoard.class,
      ExportCommand.Mlflow.class,
      ExportCommand.Otlp.class,
      RolloutsExportCommand.class,
      FactoryExportCommand.class
    })
public final class ExportCommand {
  private static final double MILLIS = 1000;

  private ExportCommand() {}

  private static Instant started(RunFolder folder) throws IOException {
    JsonNode papers = ConsoleClient.JSON.readTree(folder.path().resolve("run.json").toFile());
    return Instant.parse(papers.path("started").asText());
  }

  @Command(
      name = "tensorboard",
      description = "Writes a run's metrics as TensorBoard's event files.",
      footer = {
        "",
        "Example:",
        "  troupe export tensorboard quickstart-20261121-140200 -o logs/quickstart"
      })
  static final class TensorBoard extends CliCommand {
    @Mixin private RunArgument run = new RunArgument();

    @Option(
        names = {"-o", "--output"},
        required = true,
        paramLabel = "DIR",
        description = "Folder to write to; made if absent.")
    private @Nullable Path output;

    @Override
    public Integer call() throws IOException {
      RunFolder folder = run.open();
      Path target = Objects.requireNonNull(output);
      double begin = started(folder).toEpochMilli() / 1000.0;
      List<Map<String, Object>> rows = MetricsFile.read(folder.metrics(), 0);
      try (TensorBoardFile file = TensorBoardFile.create(target, begin)) {
        for (Map<String, Object> row : rows) {
          file.numbers(
              begin + ((Number) row.getOrDefault("seconds", 0)).doubleValue(),
              ((Number) row.getOrDefault("step", 0)).longValue(),
              MetricGroups.numbers(row));
        }
      }
      System.err.printf("%d rows: tensorboard --logdir %s%n", rows.size(), target);
      return 0;
    }
  }

  @Command(
      name = "mlflow",
      description =
          "Sends a run's configuration and metrics to an MLflow tracking server, as a new run"
              + " there. Reads MLFLOW_TRACKING_TOKEN, or MLFLOW_TRACKING_USERNAME and _PASSWORD, as"
              + " MLflow's own client does.",
      footer = {
        "",
        "Example:",
        "  troupe export mlflow quickstart-20261121-140200 --url http://127.0.0.1:5000"
      })
  static final class Mlflow extends CliCommand {
    @Mixin private RunArgument run = new RunArgument();

    @Option(names = "--url", required = true, description = "The tracking server.")
    private String url = "";

    @Option(
        names = "--experiment",
        description = "Its experiment; made if absent. Default ${DEFAULT-VALUE}.")
    private String experiment = "troupe";

    @Override
    public Integer call() throws IOException, InterruptedException {
      if (isNoServer(url, "http://127.0.0.1:5000")) {
        return 2;
      }
      URI server = URI.create(url.replaceFirst("/+$", ""));
      RunFolder folder = run.open();
      List<Map<String, Object>> rows = MetricsFile.read(folder.metrics(), 0);
      try (MlflowClient mlflow =
          new MlflowClient(
              server, MlflowClient.credentials(System.getenv()), ExportClient.PATIENCE)) {
        String made = send(mlflow, folder, rows);
        System.err.printf("%d rows: run %s of experiment %s%n", rows.size(), made, experiment);
      }
      return 0;
    }

    /** Adds a finished run, and returns its id. */
    private String send(MlflowClient mlflow, RunFolder folder, List<Map<String, Object>> rows)
        throws IOException, InterruptedException {
      long begin = started(folder).toEpochMilli();
      String id =
          mlflow.create(
              mlflow.experiment(experiment),
              folder.name(),
              begin,
              Map.of("mlflow.source.name", "troupe"));
      mlflow.parameters(id, parameters(folder));
      List<MlflowClient.Point> points = new ArrayList<>();
      long last = begin;
      for (Map<String, Object> row : rows) {
        long at = begin + Math.round(MILLIS * number(row, "seconds"));
        long step = (long) number(row, "step");
        MetricGroups.numbers(row)
            .forEach((key, value) -> points.add(new MlflowClient.Point(key, value, at, step)));
        last = at;
      }
      mlflow.metrics(id, points);
      mlflow.ended(id, MlflowClient.Status.FINISHED, last);
      return id;
    }

    private static double number(Map<String, Object> row, String key) {
      return row.get(key) instanceof Number number ? number.doubleValue() : 0;
    }
  }

  @Command(
      name = "otlp",
      description =
          "Sends the lives of a run's groups as spans to an OpenTelemetry collector: a trace a"
              + " group. A run sent twice has the same ids. Reads OTEL_EXPORTER_OTLP_HEADERS, as"
              + " OpenTelemetry's own exporters do.",
      footer = {
        "",
        "Example:",
        "  troupe export otlp quickstart-20261121-140200 --url http://127.0.0.1:4318"
      })
  static final class Otlp extends CliCommand {
    @Mixin private RunArgument run = new RunArgument();

    @Option(
        names = "--url",
        defaultValue = "${env:OTEL_EXPORTER_OTLP_ENDPOINT:-http://127.0.0.1:4318}",
        description =
            "The collector, without /v1/traces; it takes OTLP over HTTP. Default"
                + " $$OTEL_EXPORTER_OTLP_ENDPOINT, else http://127.0.0.1:4318.")
    private String url = "";

    @Override
    public Integer call() throws IOException, InterruptedException {
      if (isNoServer(url, "http://127.0.0.1:4318")) {
        return 2;
      }
      Map<String, String> headers;
      try {
        headers =
            OtlpExporter.headers(System.getenv().getOrDefault("OTEL_EXPORTER_OTLP_HEADERS", ""));
      } catch (IllegalArgumentException malformed) {
        System.err.println("error: " + malformed.getMessage());
        return 2;
      }
      RunFolder folder = run.open();
      List<TraceSpan> ended = new ArrayList<>();
      GroupSpans spans = new GroupSpans(folder.name(), ended::add);
      try (RunJournal journal = RunJournal.open(folder.journal());
          OtlpExporter collector = new OtlpExporter(URI.create(url), headers, folder.name())) {
        for (var next = journal.next(); next.isPresent(); next = journal.next()) {
          RunJson.Entry entry = next.get();
          entry.events().forEach(event -> spans.event(entry.atMillis(), event));
          for (TraceSpan span : ended) {
            collector.add(span);
          }
          ended.clear();
        }
        System.err.printf(
            "%d spans; %d groups had not ended and were not sent%n",
            collector.finish(), spans.open());
      }
      return 0;
    }
  }

  /** Texts of the run's configuration by path, in the order of the reference. */
  private static Map<String, String> parameters(RunFolder folder) {
    Map<String, String> parameters = new LinkedHashMap<>();
    RunConfig.load(folder.resolved(), List.of())
        .values()
        .forEach(value -> parameters.put(value.path(), value.text()));
    return parameters;
  }

  private static boolean isNoServer(String url, String example) {
    boolean none = !url.matches("https?://[^/]+.*");
    if (none) {
      System.err.printf(
          "error: --url %s is no address of a server; give one such as %s%n", url, example);
    }
    return none;
  }
}
