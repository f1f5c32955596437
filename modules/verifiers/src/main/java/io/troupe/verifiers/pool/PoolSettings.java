package io.troupe.verifiers.pool;

import static io.troupe.core.Require.require;

import java.time.Duration;

/**
 * The settings of a pool.
 *
 * @param workers verifications at a time
 * @param deadline of one verification, from its start on a worker
 * @param startDeadline until a worker's process must be ready
 * @param queue most verifications that wait
 * @param heapMegabytes of a worker's JVM
 * @param failuresInRow number of timeouts and crashes, without a verdict between them, that open
 *     the verifier's circuit breaker
 * @param quarantine time for which the circuit breaker stays open
 */
public record PoolSettings(
    int workers,
    Duration deadline,
    Duration startDeadline,
    int queue,
    int heapMegabytes,
    int failuresInRow,
    Duration quarantine) {
  public PoolSettings {
    require(workers >= 1, "a verifier pool has 1 worker or more, not %d", workers);
    require(
        deadline.isPositive(), "the deadline of a verification is longer than 0, not %s", deadline);
    require(
        startDeadline.isPositive(),
        "the start deadline of a verifier is longer than 0, not %s",
        startDeadline);
    require(queue >= 1, "the queue of a verifier pool holds 1 or more, not %d", queue);
    require(heapMegabytes >= 16, "a verifier's heap is 16 MB or more, not %d", heapMegabytes);
    require(failuresInRow >= 1, "failures in a row are 1 or more, not %d", failuresInRow);
    require(quarantine.isPositive(), "a quarantine is longer than 0, not %s", quarantine);
  }

  /** Five seconds a verification, twenty failures in a row, a minute of quarantine. */
  public static PoolSettings of(int workers) {
    return new PoolSettings(
        workers,
        Duration.ofSeconds(5),
        Duration.ofSeconds(30),
        1 << 16,
        256,
        20,
        Duration.ofMinutes(1));
  }

  /** Returns these settings with another deadline. */
  public PoolSettings withDeadline(Duration other) {
    return new PoolSettings(
        workers, other, startDeadline, queue, heapMegabytes, failuresInRow, quarantine);
  }
}
