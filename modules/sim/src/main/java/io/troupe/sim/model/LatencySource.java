package io.troupe.sim.model;

import static io.troupe.core.Require.require;

/**
 * The source of a model's numbers, and their range.
 *
 * @param source a measurement, or what is cited
 * @param policy that they are of; empty where they are of no one in particular
 * @param groups that they were fitted from; 0 where they are cited
 * @param rows most completions decoded at a time in the measurement; 0 where that is no limit
 * @param ranks most trainer ranks in the measurement; 0 likewise
 * @param leastThreads fewest threads of trainer and workers that computed at once; 0 likewise
 * @param mostThreads most of them; 0 likewise
 */
public record LatencySource(
    String source,
    String policy,
    long groups,
    int rows,
    int ranks,
    double leastThreads,
    double mostThreads) {
  public LatencySource {
    require(!source.isBlank(), "origin.source says where the numbers of a model are from");
    require(
        groups >= 0 && rows >= 0 && ranks >= 0 && leastThreads >= 0 && mostThreads >= leastThreads,
        "the numbers of origin are not negative, and most_threads is no smaller than least_threads");
  }

  /** Numbers that reach as far as one likes. */
  public static LatencySource of(String source) {
    return new LatencySource(source, "", 0, 0, 0, 0, 0);
  }
}
