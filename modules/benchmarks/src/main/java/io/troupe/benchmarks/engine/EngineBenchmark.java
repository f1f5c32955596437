package io.troupe.benchmarks.engine;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code troupe bench engine}: the engine in this process beside PyTorch in Python. */
@Command(
    name = "engine",
    mixinStandardHelpOptions = true,
    description =
        "Compares the engine with a plain PyTorch program in Python: same architecture, same"
            + " weights, bursts in turn, medians of their ratios. Without PyTorch for Python it"
            + " measures ours alone and says so.",
    footer = {
      "",
      "Examples:",
      "  troupe bench engine --python venv/bin/python --update",
      "  troupe bench engine --rounds 3 --json result.json"
    })
public final class EngineBenchmark implements Callable<Integer> {
  @Option(
      names = "--python",
      defaultValue = "python3",
      description = "A Python interpreter with torch, default ${DEFAULT-VALUE}.")
  private String python = "python3";

  @Option(
      names = "--threads",
      defaultValue = "2",
      description = "PyTorch threads of each side, default ${DEFAULT-VALUE}.")
  private int threads = 2;

  @Option(
      names = "--rounds",
      defaultValue = "5",
      description = "Pairs of bursts of a measurement, default ${DEFAULT-VALUE}.")
  private int rounds = 5;

  @Option(names = "--json", paramLabel = "FILE", description = "Writes the results there.")
  private @Nullable Path json;

  @Option(
      names = "--update",
      description = "Writes the table into its section of docs/performance.md.")
  private boolean update;

  @Override
  public Integer call() throws IOException, InterruptedException {
    return new ComparisonRun("engine", python, threads, rounds)
        .run(Map.of("decode", new DecodeComparison()), Optional.ofNullable(json), update);
  }
}
