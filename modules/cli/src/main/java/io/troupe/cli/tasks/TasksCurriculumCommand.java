package io.troupe.cli.tasks;

import io.troupe.base.process.ExitCode;
import io.troupe.tasks.PassRates;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code troupe tasks curriculum}: an order file from pass rates. */
@Command(
    name = "curriculum",
    mixinStandardHelpOptions = true,
    description =
        "Writes an order file for task.order: the ids of stored results by pass rate, the least"
            + " solved first.",
    footer = {"", "Example:", "  troupe tasks curriculum --from results.jsonl --descending"})
final class TasksCurriculumCommand implements Callable<Integer> {
  @Option(
      names = "--from",
      paramLabel = "FILE",
      required = true,
      description = "Results: lines with id and reward, or id and pass_rate; may be given often.")
  private List<Path> from = new ArrayList<>();

  @Option(names = "--descending", description = "The most solved first: from easy to hard.")
  private boolean descending;

  @Option(
      names = "--seed",
      paramLabel = "N",
      defaultValue = "42",
      description = "Orders prompts of the same rate; default ${DEFAULT-VALUE}.")
  private long seed;

  @Option(names = "--output", paramLabel = "FILE", description = "Default: standard output.")
  private @Nullable Path output;

  @Override
  public Integer call() throws IOException {
    List<String> ids = PassRates.read(from).curriculum(descending, seed);
    if (output == null) {
      ids.forEach(System.out::println);
    } else {
      Files.write(output, ids);
    }
    return ExitCode.OK.code();
  }
}
