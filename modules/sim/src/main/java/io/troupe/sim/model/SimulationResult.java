package io.troupe.sim.model;

import io.troupe.core.audit.AuditReport;
import io.troupe.core.run.RunState;
import java.util.Map;

/**
 * The result of a simulated run.
 *
 * @param state at its end
 * @param audit of its events
 * @param seconds of virtual time
 * @param decisions that left a record
 * @param pace speed of the run
 * @param staleness of what it trained on
 * @param utilisation of its parts
 */
public record SimulationResult(
    RunState state,
    AuditReport audit,
    double seconds,
    long decisions,
    Pace pace,
    Staleness staleness,
    Utilisation utilisation) {
  /** The reason why workers got no more groups, or that they did not ask for more. */
  public enum Bound {
    /** Workers have all that they asked for. */
    ROLLOUT,
    /** {@code training.max_staleness} and {@code training.groups_per_step} admit no more. */
    ADMISSION,
    /** {@code rollout.max_concurrent_groups} are under lease. */
    CONCURRENCY,
    /** The groups under lease must end first. */
    LOCK_STEP,
    /** Verifiers are away, or breakers hold work back. */
    OUTAGE,
    /** The run's last steps have their groups. */
    END,
    /** Groups were on their way. */
    NONE
  }

  /**
   * The speed of a run.
   *
   * @param steps that moved the weights
   * @param stepsPerSecond from the end of the first step to that of the last
   * @param sampledTokensPerSecond of all workers, over all of the time
   * @param trainedTokensPerSecond with loss weight
   * @param lastStepSeconds time at which the last step ended
   */
  public record Pace(
      long steps,
      double stepsPerSecond,
      double sampledTokensPerSecond,
      double trainedTokensPerSecond,
      double lastStepSeconds) {}

  /**
   * The staleness of the tokens that a run trained on.
   *
   * @param mean in versions
   * @param shares of the trained tokens at each staleness from 0 on
   * @param masked share of the steps' tokens without loss weight because they were too stale
   */
  @SuppressWarnings("ArrayRecordComponent") // carried, never compared
  public record Staleness(double mean, double[] shares, double masked) {}

  /**
   * The shares of the time in which the parts of a run were busy.
   *
   * @param trainer that computes
   * @param workers that decode
   * @param rows of full batches that were in use
   * @param verifiers that judge
   * @param buffered groups, on average
   * @param leased groups, on average
   * @param bounds the share of the time that each {@link Bound} held, if it did
   */
  public record Utilisation(
      double trainer,
      double workers,
      double rows,
      double verifiers,
      double buffered,
      double leased,
      Map<Bound, Double> bounds) {}
}
