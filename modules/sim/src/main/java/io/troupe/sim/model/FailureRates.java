package io.troupe.sim.model;

import static io.troupe.core.Require.require;

/**
 * The frequency of failures of each part, at times that are exponential, and the times of recovery.
 *
 * @param workerPerHour deaths of a worker's process, per worker
 * @param workerRecoverySeconds from a death to the next start
 * @param enginePerHour engines that fail every request for a while, per worker
 * @param partitionPerHour workers that cannot be reached for a while, per worker
 * @param verifierPerHour stalls of a verifier pool
 * @param diskPerHour stalls of the coordinator's disk
 * @param coordinatorPerHour deaths of the coordinator's process
 * @param outageSeconds mean length of a stall, an engine's failure or a partition
 */
public record FailureRates(
    double workerPerHour,
    double workerRecoverySeconds,
    double enginePerHour,
    double partitionPerHour,
    double verifierPerHour,
    double diskPerHour,
    double coordinatorPerHour,
    double outageSeconds) {
  /** Rates without failures. */
  public static final FailureRates NONE = new FailureRates(0, 30, 0, 0, 0, 0, 0, 30);

  public FailureRates {
    require(
        workerPerHour >= 0
            && enginePerHour >= 0
            && partitionPerHour >= 0
            && verifierPerHour >= 0
            && diskPerHour >= 0
            && coordinatorPerHour >= 0,
        "the rates of failures are not negative");
    require(
        workerRecoverySeconds > 0 && outageSeconds > 0,
        "failures.worker_recovery_seconds and failures.outage_seconds are above 0");
  }

  /** Returns these rates, a number of times as frequent. */
  public FailureRates accelerated(double factor) {
    return new FailureRates(
        workerPerHour * factor,
        workerRecoverySeconds,
        enginePerHour * factor,
        partitionPerHour * factor,
        verifierPerHour * factor,
        diskPerHour * factor,
        coordinatorPerHour * factor,
        outageSeconds);
  }
}
