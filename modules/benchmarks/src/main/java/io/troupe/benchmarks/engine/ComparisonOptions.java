package io.troupe.benchmarks.engine;

import io.troupe.benchmarks.harness.ResultFile;
import io.troupe.benchmarks.harness.UpdateOption;
import java.io.IOException;
import java.util.Map;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Options of every benchmark that compares the engine with PyTorch in Python. */
final class ComparisonOptions {
  @Option(
      names = "--python",
      description = "A Python interpreter with torch, default ${DEFAULT-VALUE}.")
  private String python = "python3";

  @Option(
      names = "--threads",
      description = "PyTorch threads of each side, default ${DEFAULT-VALUE}.")
  private int threads;

  @Option(
      names = "--rounds",
      description = "Pairs of bursts of a measurement, default ${DEFAULT-VALUE}.")
  private int rounds = 5;

  @Mixin private final ResultFile resultFile = new ResultFile();

  @Mixin private final UpdateOption update = new UpdateOption();

  /** Options with the number of threads that is used without one. */
  ComparisonOptions(int threads) {
    this.threads = threads;
  }

  /**
   * Compares, and returns the exit code.
   *
   * @param command name of the benchmark on the command line
   * @param comparisons by the name of their section of docs/performance.md
   */
  int run(String command, Map<String, PyTorchComparison> comparisons)
      throws IOException, InterruptedException {
    return new ComparisonRun(command, python, threads, rounds)
        .run(comparisons, resultFile, update.given());
  }
}
