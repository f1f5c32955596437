package io.troupe.benchmarks.harness;

import picocli.CommandLine.Option;

/** The option that has a benchmark write its table into the documentation. */
public final class UpdateOption {
  @Option(
      names = "--update",
      description = "Writes the table into its section of docs/performance.md.")
  private boolean update;

  /** Whether the table is written. */
  public boolean given() {
    return update;
  }
}
