package io.troupe.cli.export;

import io.troupe.base.files.AtomicFile;
import io.troupe.base.process.ExitCode;
import io.troupe.cli.command.CliCommand;
import io.troupe.cli.command.RunArgument;
import io.troupe.cli.command.StepsOption;
import io.troupe.run.rollouts.RecordedRollouts;
import io.troupe.run.rollouts.RolloutColumns;
import io.troupe.run.rollouts.RolloutGroup;
import io.troupe.run.session.JsonText;
import io.troupe.store.folder.RunFolder;
import io.troupe.tasks.columns.ParquetTable;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code troupe export rollouts}: a run's completions as rows. */
@Command(
    name = "rollouts",
    description = {
      "Writes a run's completions as rows of a Parquet or JSON Lines file, one a completion: prompt,"
          + " text, reward, reason, advantage, step, versions, lengths; token ids and"
          + " log-probabilities where the run stored them (recording.tokens).",
      "The run may be under way."
    },
    footer = {
      "",
      "Examples:",
      "  troupe export rollouts quickstart-20261121-140200 -o rollouts.parquet",
      "  troupe export rollouts quickstart-20261121-140200 --steps 100-200 -o last.jsonl"
    })
final class RolloutsExportCommand extends CliCommand {
  /** The formats of rows. */
  enum Format {
    PARQUET,
    JSONL
  }

  @Mixin private RunArgument run = new RunArgument();

  @Option(
      names = {"-o", "--output"},
      required = true,
      paramLabel = "FILE",
      description = "Where to write; an existing file is replaced.")
  private @Nullable Path output;

  @Option(
      names = "--format",
      paramLabel = "FORMAT",
      description = "parquet or jsonl; by default what the name of FILE ends with.")
  private @Nullable Format format;

  @Mixin private StepsOption steps = new StepsOption();

  @Override
  public Integer call() throws IOException {
    Path file = Objects.requireNonNull(output);
    Format wanted = format == null ? formatOf(file) : format;
    steps.contains(0); // refused before anything is read
    RunFolder folder = withRollouts(run.view());
    RecordedRollouts rollouts = RecordedRollouts.of(folder);
    RolloutColumns columns = new RolloutColumns(folder);
    Map<String, Integer> rows = new LinkedHashMap<>();
    Consumer<Consumer<Map<String, Object>>> each = row -> every(rollouts, columns, row, rows);
    if (wanted == Format.PARQUET) {
      ParquetTable.write(file, columns.kinds(), table -> each.accept(table::row));
    } else {
      AtomicFile.replace(file, beside -> lines(beside, columns, each));
    }
    err().println(summary(rows, file));
    if (!rollouts.hasTexts()) {
      err()
          .println(
              "note: the run has no traces (recording.traces is -1, or they were deleted), so prompts,"
                  + " texts and reasons are absent");
    }
    return ExitCode.OK.code();
  }

  private void every(
      RecordedRollouts rollouts,
      RolloutColumns columns,
      Consumer<Map<String, Object>> row,
      Map<String, Integer> counts) {
    try {
      rollouts.forEach(
          group -> {
            if (steps.contains(group.period())) {
              rowsOf(columns, group).forEach(row);
              counts.merge(group.stage().word(), group.size(), Integer::sum);
            }
          });
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  private static Iterable<Map<String, Object>> rowsOf(RolloutColumns columns, RolloutGroup group) {
    try {
      return columns.rows(group);
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  private static void lines(
      Path file, RolloutColumns columns, Consumer<Consumer<Map<String, Object>>> each)
      throws IOException {
    JsonText json = new JsonText();
    try (BufferedWriter lines = Files.newBufferedWriter(file)) {
      each.accept(
          row -> {
            Map<String, @Nullable Object> ordered = new LinkedHashMap<>();
            columns.kinds().keySet().forEach(name -> ordered.put(name, row.get(name)));
            try {
              lines.write(json.line(ordered));
              lines.newLine();
            } catch (IOException disk) {
              throw new UncheckedIOException(disk);
            }
          });
    } catch (UncheckedIOException disk) {
      throw disk.getCause();
    }
  }

  private static String summary(Map<String, Integer> rows, Path file) {
    int all = rows.values().stream().mapToInt(Integer::intValue).sum();
    return String.format(Locale.ROOT, "%,d rows written to %s", all, file)
        + rows.entrySet().stream()
            .map(each -> String.format(Locale.ROOT, "%,d %s", each.getValue(), each.getKey()))
            .collect(Collectors.joining(", ", all == 0 ? "" : ": ", ""));
  }

  private Format formatOf(Path file) {
    String name = file.toString().toLowerCase(Locale.ROOT);
    if (name.endsWith(".parquet")) {
      return Format.PARQUET;
    }
    if (name.endsWith(".jsonl")) {
      return Format.JSONL;
    }
    throw refused(
        "--output %s ends with neither .parquet nor .jsonl; say which by --format".formatted(file));
  }
}
