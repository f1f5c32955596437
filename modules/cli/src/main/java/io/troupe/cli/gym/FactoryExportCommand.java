package io.troupe.cli.gym;

import io.troupe.base.process.ExitCode;
import io.troupe.cli.command.CliCommand;
import io.troupe.gym.factory.FactoryData;
import io.troupe.gym.factory.FactoryEntry;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code troupe export llama-factory}: rows as a data set of LLaMA-Factory. */
@Command(
    name = "llama-factory",
    description = {
      "Writes rows as a data set of LLaMA-Factory: dataset_info.json and a file of rows.",
      "FILE has lines with a prompt (or instruction) and a completion (or response), such as the"
          + " training_data.jsonl of a gym. Rows that `troupe tasks import` made and nobody changed"
          + " are written byte for byte as they were."
    },
    footer = {
      "",
      "Example:",
      "  troupe export llama-factory GYM/trial_00_weakness_1/iteration_4/training_data.jsonl -o lf"
    })
public final class FactoryExportCommand extends CliCommand {
  @Parameters(paramLabel = "FILE", description = "Rows, one JSON object a line.")
  private @Nullable Path rows;

  @Option(
      names = {"-o", "--output"},
      required = true,
      paramLabel = "DIR",
      description = "Folder to write to; LLaMA-Factory's dataset_dir.")
  private @Nullable Path output;

  @Option(
      names = "--name",
      paramLabel = "NAME",
      description = "Name of the data set; imported rows keep theirs. Default ${DEFAULT-VALUE}.")
  private String name = FactoryEntry.CUSTOM;

  @Override
  public Integer call() throws IOException {
    Path folder = Objects.requireNonNull(output);
    int written = FactoryData.write(Objects.requireNonNull(rows), folder, name);
    System.out.printf("%,d rows written to %s%n", written, folder);
    return ExitCode.OK.code();
  }
}
