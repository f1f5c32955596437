package io.troupe.cli.gym;

import io.troupe.base.process.ExitCode;
import io.troupe.cli.command.CliCommand;
import io.troupe.gym.factory.FactoryData;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code troupe tasks import}: a data set of LLaMA-Factory as rows of Troupe. */
@Command(
    name = "import",
    description = {
      "Reads a data set of LLaMA-Factory (alpaca, sharegpt or openai format) as rows that `troupe"
          + " sft` trains on: id, prompt and completion, or messages.",
      "Rows that LLaMA-Factory would skip, and rows with images, videos or tools, are left out and"
          + " counted. FILE.origin.json keeps the text of all rows for `troupe export"
          + " llama-factory`."
    },
    footer = {
      "",
      "Example:",
      "  troupe tasks import LLaMA-Factory/data identity -o identity.jsonl"
    })
public final class FactoryImportCommand extends CliCommand {
  @Parameters(index = "0", paramLabel = "DIR", description = "Folder with dataset_info.json.")
  private @Nullable Path folder;

  @Parameters(index = "1", paramLabel = "NAME", description = "Name of the data set in it.")
  private String name = "";

  @Option(
      names = {"-o", "--output"},
      required = true,
      paramLabel = "FILE",
      description = "File of the rows.")
  private @Nullable Path output;

  @Override
  public Integer call() throws IOException {
    Path file = Objects.requireNonNull(output);
    FactoryData.Imported imported = FactoryData.read(Objects.requireNonNull(folder), name, file);
    System.out.printf("%,d rows written to %s%n", imported.rows(), file);
    imported.left().forEach((rule, rows) -> System.out.printf("%,d left out: %s%n", rows, rule));
    return imported.left().isEmpty() ? ExitCode.OK.code() : ExitCode.INCOMPLETE.code();
  }
}
