package io.troupe.benchmarks.harness;

import picocli.CommandLine.Option;

/** The option that says how often a benchmark measures. */
public final class RoundsOption {
  @Option(names = "--rounds", description = "Rounds, the median counts, default ${DEFAULT-VALUE}.")
  private int rounds;

  /** The option with the number that is used without it. */
  public RoundsOption(int rounds) {
    this.rounds = rounds;
  }

  /** Returns the number of rounds. */
  public int value() {
    return rounds;
  }
}
