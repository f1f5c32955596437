package io.troupe.cli.tasks;

import io.troupe.base.process.ExitCode;
import io.troupe.cli.command.CliCommand;
import io.troupe.tasks.results.StoredResults;
import io.troupe.tasks.results.StoredResults.Band;
import io.troupe.tasks.rows.TaskDataException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code troupe tasks curriculum}: an order file from pass rates. */
@Command(
    name = "curriculum",
    description = {
      "Writes an order file for task.order: the ids of prompts by what was measured of them, the"
          + " least solved first. The run trains on these prompts alone."
    },
    footer = {
      "",
      "Examples:",
      "  troupe tasks curriculum --from eval --key pass@4 --min 0.1 --max 0.9 --output order.txt",
      "  troupe tasks curriculum --from runs/quickstart-20261121-140200 --descending"
    })
final class TasksCurriculumCommand extends CliCommand {
  @Mixin private ResultOptions results = new ResultOptions();

  @Option(
      names = "--min",
      paramLabel = "X",
      defaultValue = "-Infinity",
      description = "Least value of the key; default ${DEFAULT-VALUE}.")
  private double least;

  @Option(
      names = "--max",
      paramLabel = "X",
      defaultValue = "Infinity",
      description = "Greatest value of the key; default ${DEFAULT-VALUE}.")
  private double most;

  @Option(names = "--descending", description = "The most solved first: from easy to hard.")
  private boolean descending;

  @Option(
      names = "--seed",
      paramLabel = "N",
      description = "Orders prompts of the same rate; default ${DEFAULT-VALUE}.")
  private long seed = 42;

  @Option(names = "--output", paramLabel = "FILE", description = "Default: standard output.")
  private @Nullable Path output;

  @Override
  public Integer call() throws IOException {
    StoredResults read = results.read();
    List<String> ids =
        read.curriculum(results.key(), new Band(least, most, true), descending, seed);
    results.unknown(read).ifPresent(System.err::println);
    if (ids.isEmpty()) {
      throw new TaskDataException(
          "%s: no prompt has a %s from %s to %s; widen --min and --max"
              .formatted(results.places(), results.key(), least, most));
    }
    if (output == null) {
      ids.forEach(System.out::println);
    } else {
      Files.write(output, ids);
    }
    return ExitCode.OK.code();
  }
}
