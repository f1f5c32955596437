package io.troupe.telemetry.view;

import java.util.List;

/**
 * A group and what became of it. Times are milliseconds since 1970, 0 for what has not happened.
 *
 * @param stage waiting, sampling, verifying, buffered, training; or how it ended: trained,
 *     filtered, skipped, failed
 * @param attempts leases that ended without an accepted answer
 * @param worker that has or had its lease; "" before any
 * @param fence of its newest lease, 0 before any
 * @param version published when the lease was granted; -1 before
 * @param rewards one a completion; empty until it is scored
 * @param reward their mean, 0 before
 * @param spread their standard deviation, 0 before
 * @param tokens of all completions
 * @param oldest version of a token; -1 before it is scored
 * @param newest version of a token; -1 before it is scored
 * @param staleness of its oldest token when it was used or put aside; -1 before
 * @param step that trained on it; 0 for none
 * @param completions tokens of each completion by version, oldest first
 * @param trouble the last thing that went wrong with it; "" for none
 */
public record GroupRow(
    long group,
    long prompt,
    long epoch,
    String stage,
    int attempts,
    String worker,
    long fence,
    long version,
    long admittedAt,
    long leasedAt,
    long sampledAt,
    long scoredAt,
    long endedAt,
    List<Double> rewards,
    double reward,
    double spread,
    long tokens,
    long oldest,
    long newest,
    long staleness,
    long step,
    List<List<Span>> completions,
    String trouble) {
  /** Consecutive tokens of one version. */
  public record Span(long version, int tokens) {}
}
